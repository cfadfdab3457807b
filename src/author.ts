import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { type AuthenticatedRequest, unauthenticated } from './access.guard.js';
import type { OperatorPrincipal } from './principal.js';
import { ProblemError } from './errors.js';

/** Who makes a change: an operator by a request, the `warren` command on the database, or the server's environment. */
export type Author = (OperatorPrincipal & { requestId: string }) | { kind: 'command' } | { kind: 'environment' };

/** The operator behind a request, for a handler that changes something. Errors: `unauthenticated`, `forbidden`. */
export const RequestAuthor = createParamDecorator((_: undefined, context: ExecutionContext): Author => {
  const { principal, id } = context.switchToHttp().getRequest<AuthenticatedRequest>();
  if (principal === undefined) throw unauthenticated();
  if (principal.kind !== 'operator') throw new ProblemError('forbidden', 'Only operators make changes.');
  return { ...principal, requestId: id };
});
