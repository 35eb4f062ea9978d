// The editor of rules. It works without any of this.
import { wireKeep } from "./keep.js";
import { wireSnippets } from "./snippets.js";

wireKeep(document);
wireSnippets(document);
