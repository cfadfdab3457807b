import type { MenuAnswer } from './menu.answers.js';
import type { MenuCaller } from './menu.caller.js';
import type { MenuToolName } from './menu.definitions.js';

/** The three tools behind every face of the menu (`/mcp` and REST), whatever stands behind it. */
export abstract class Menu {
  /**
   * Uses one tool. `args` is what the caller sent, unchecked. A failing tool is an outcome and comes back as an answer;
   * errors thrown are problems of this server (`ProblemError`, database).
   */
  abstract use(tool: MenuToolName, args: unknown, caller: MenuCaller): Promise<MenuAnswer>;
}
