export function sayings(secrets: readonly string[]): {
  said: string;
  answer: (message: unknown) => Record<string, unknown>[];
};
