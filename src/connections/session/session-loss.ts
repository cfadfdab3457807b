import { SdkHttpError } from '@modelcontextprotocol/client';

/** Whether the provider answered that it does not know the session which the request named. */
export function tellsOfLoss(error: unknown): error is SdkHttpError {
  return error instanceof SdkHttpError && error.status === 404;
}

/** A refusal that many give for an unknown session, but others for the request itself. */
export function mayTellOfLoss(error: unknown): error is SdkHttpError {
  return error instanceof SdkHttpError && error.status === 400;
}

/**
 * Whether a refused ping shows that the session is unknown. Nothing in a ping can be at fault but the session it names;
 * but some refuse with 400 what they understood well, a method they lack for one, and that is a sign of life.
 */
export function showsLoss({ data }: SdkHttpError): boolean {
  const text = typeof data === 'object' && data !== null && 'text' in data ? String(data.text) : '';
  return !answersRequest(text) || /session/i.test(text);
}

/** Ids of ours are numbers; a refusal from in front of the session has none, or one of its own. */
function answersRequest(text: string): boolean {
  try {
    const value = JSON.parse(text) as { id?: unknown } | null;
    return typeof value?.id === 'number';
  } catch {
    return false;
  }
}
