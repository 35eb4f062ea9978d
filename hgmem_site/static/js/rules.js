// The editor of rules. It works without any of this.
import { wireSnippets } from "./snippets.js";
import { wireUnsaved } from "./unsaved.js";

wireSnippets(document);
wireUnsaved(document);
