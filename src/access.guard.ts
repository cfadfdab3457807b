import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { ProblemError } from './errors.js';
import { mayUse, type Principal, type RouteAccess } from './principal.js';
import { ROUTE_ACCESS } from './route.decorator.js';

/** A request after authentication; `principal` is absent on public routes. */
export type AuthenticatedRequest = FastifyRequest & { principal?: Principal };

/** Lets a request through only where its principal may go. A route that names no access is closed. */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const access = this.reflector.get<RouteAccess | undefined>(ROUTE_ACCESS, context.getHandler());
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    if (access === 'public') return true;
    if (request.principal === undefined) throw unauthenticated();
    if (access === undefined) throw new ProblemError('forbidden', 'This route is not open to anyone.');
    const params = request.params as { id?: string };
    if (!mayUse(request.principal, access, params.id)) throw forbidden(request.principal, access);
    return true;
  }
}

/** The same answer for every cause: no token, a malformed, unknown, expired or disabled one. */
export function unauthenticated(): ProblemError {
  return new ProblemError('unauthenticated', 'Send a valid token as `Authorization: Bearer <token>`.');
}

function forbidden(principal: Principal, access: RouteAccess): ProblemError {
  if (principal.kind === 'agent') {
    return new ProblemError('forbidden', 'An agent token opens /mcp and its own menu only.');
  }
  const needed = access === 'agent' ? 'write' : access === 'write-or-launch' ? 'write or launch' : access;
  return new ProblemError(
    'forbidden',
    access === 'mcp' ? 'This endpoint is for agent tokens.' : `This needs an operator key with scope ${needed}.`,
  );
}
