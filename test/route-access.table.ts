/** Who a route is for: a scope, `write-or-launch` (the handler decides between the two), the menu, `/mcp`, or anyone. */
export type Access = 'public' | 'read' | 'write' | 'launch' | 'write-or-launch' | 'admin' | 'agent' | 'mcp';

export interface RouteRow {
  method: string;
  /** As in `/openapi.json`. */
  path: string;
  access: Access;
  /** In the document; false for what is served beside the API itself. */
  documented: boolean;
}

/** Every route Warren serves. Written down apart from the code, so that a route of too wide access is seen. */
export const routeTable: readonly RouteRow[] = [
  ...rows('public', 'GET /health/live', 'GET /health/ready'),
  ...undocumented('public', 'GET /openapi.json', 'GET /docs', 'GET /docs/', 'GET /docs/index.html'),
  ...undocumented('public', 'GET /docs/LICENSE', 'GET /docs/swagger-ui-init.js', 'GET /docs/docs/swagger-ui-init.js'),
  ...rows('public', 'GET /.well-known/oauth-protected-resource', 'GET /.well-known/oauth-protected-resource/mcp'),
  ...rows('read', 'GET /metrics'),
  ...rows('admin', 'POST /api/keys', 'GET /api/keys', 'DELETE /api/keys/{id}'),
  ...rows('write-or-launch', 'POST /api/connections', 'PATCH /api/connections/{id}'),
  ...rows('read', 'GET /api/connections', 'GET /api/connections/export', 'GET /api/connections/{id}'),
  ...rows('read', 'GET /api/connections/{id}/events', 'GET /api/connections/{id}/tools'),
  ...rows(
    'write',
    'DELETE /api/connections/{id}',
    'POST /api/connections/{id}/start',
    'POST /api/connections/{id}/stop',
  ),
  ...rows('write', 'POST /api/connections/discover', 'POST /api/connections/{id}/discover'),
  ...rows('read', 'GET /api/agents', 'GET /api/agents/{id}', 'GET /api/agents/{id}/tokens'),
  ...rows('write', 'POST /api/agents', 'PATCH /api/agents/{id}', 'DELETE /api/agents/{id}'),
  ...rows('write', 'POST /api/agents/{id}/tokens', 'DELETE /api/agents/{id}/tokens/{tokenId}'),
  ...rows('read', 'GET /api/agents/{id}/mcp-tools', 'GET /api/grants'),
  ...rows('write', 'PUT /api/agents/{id}/mcp-tools', 'PATCH /api/agents/{id}/mcp-tools', 'POST /api/grants/apply'),
  ...rows('agent', 'POST /api/agents/{id}/menu/mcp_providers', 'POST /api/agents/{id}/menu/mcp_capabilities'),
  ...rows('agent', 'POST /api/agents/{id}/menu/mcp_call'),
  ...rows('mcp', 'POST /mcp'),
  ...undocumented('mcp', 'GET /mcp', 'DELETE /mcp'),
  ...rows('read', 'GET /api/calls', 'GET /api/calls/{callId}', 'GET /api/audit'),
];

function rows(access: Access, ...routes: string[]): RouteRow[] {
  return routes.map((route) => ({ ...split(route), access, documented: true }));
}

function undocumented(access: Access, ...routes: string[]): RouteRow[] {
  return rows(access, ...routes).map((row) => ({ ...row, documented: false }));
}

function split(route: string): { method: string; path: string } {
  const [method = '', path = ''] = route.split(' ');
  return { method, path };
}

/** `GET /path`, as the table and the lists below name a route. */
export function nameOf({ method, path }: { method: string; path: string }): string {
  return `${method} ${path}`;
}

/** The routes of an OpenAPI document with the access each claims, as `GET /path access`. */
export function documentedRoutes(document: { paths: Record<string, Record<string, unknown>> }): string[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      const { 'x-warren-access': access } = operation as { 'x-warren-access'?: string };
      return `${nameOf({ method: method.toUpperCase(), path })} ${access ?? 'no access named'}`;
    }),
  );
}

/** The routes of Fastify's `printRoutes({ commonPrefix: false })`; HEAD comes with every GET and is left out. */
export function printedRoutes(tree: string): string[] {
  const prefixes: string[] = [];
  const routes: string[] = [];
  for (const line of tree.split('\n')) {
    const [, indent = '', segment = '', methods = ''] = /^([│\s]*)[├└]── (.*?) \(([A-Z, ]+)\)$/u.exec(line) ?? [];
    if (methods === '') {
      if (line.trim() !== '') throw new Error(`not a line of the route tree: ${line}`);
      continue;
    }
    const depth = indent.length / 4;
    prefixes.length = depth;
    const path = prefixes.join('') + segment;
    prefixes.push(path.slice(prefixes.join('').length));
    for (const method of methods.split(', ')) {
      if (method !== 'HEAD') routes.push(nameOf({ method, path: path.replaceAll(/:(\w+)/g, '{$1}') }));
    }
  }
  return routes;
}
