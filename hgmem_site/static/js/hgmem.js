// One module per behaviour, wired by data- attributes. Every page works without any of them.
import { wireAutofocus } from "./autofocus.js";
import { wireCopy } from "./copy.js";
import { wireMenus } from "./menus.js";
import { wireShortcuts } from "./shortcuts.js";
import { wireTheme } from "./theme.js";
import { wireUnsaved } from "./unsaved.js";

wireAutofocus(document);
wireMenus(document);
wireTheme(document);
wireShortcuts(document);
wireCopy(document);
wireUnsaved(document);
