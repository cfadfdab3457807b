const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '::1'];

/** Which host names requests may carry; ports are ignored. */
export class HostCheck {
  private readonly allowed: Set<string>;

  /** `listenHost` is allowed unless it is a wildcard address; `extra` comes from WARREN_ALLOWED_HOSTS. */
  constructor(listenHost: string, extra: readonly string[]) {
    const wildcard = listenHost === '0.0.0.0' || listenHost === '::';
    this.allowed = new Set([...LOOPBACK_NAMES, ...(wildcard ? [] : [listenHost]), ...extra].map(bareName));
  }

  /** A `Host` header: absent or foreign is refused. */
  allowsHost(header: string | undefined): boolean {
    const name = header === undefined ? undefined : hostName(`http://${header}`);
    return name !== undefined && this.allowed.has(name);
  }

  /** An `Origin` header: absent is fine (not a browser), `null` and foreign ones are refused. */
  allowsOrigin(header: string | undefined): boolean {
    if (header === undefined) return true;
    const name = hostName(header);
    return name !== undefined && this.allowed.has(name);
  }
}

function hostName(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const parsed = new URL(url);
  const plain =
    (parsed.protocol === 'http:' || parsed.protocol === 'https:') &&
    parsed.username === '' &&
    parsed.password === '' &&
    parsed.pathname === '/' &&
    parsed.search === '' &&
    parsed.hash === '';
  return plain ? bareName(parsed.hostname) : undefined;
}

function bareName(name: string): string {
  return name
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
}
