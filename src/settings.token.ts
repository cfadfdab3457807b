/** Injection token of the parsed settings (`Settings` of `config.ts`). */
export const SETTINGS = Symbol('settings');
