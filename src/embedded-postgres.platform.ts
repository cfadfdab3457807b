/** What decides whether PostgreSQL's binaries run here. */
export interface Platform {
  readonly system: string;
  readonly architecture: string;
  /** Undefined on Linux means that the C library is not glibc (Alpine's is musl). */
  readonly glibc: string | undefined;
}

const ARCHITECTURES: Readonly<Record<string, readonly string[]>> = {
  linux: ['x64', 'arm64', 'arm', 'ia32', 'ppc64'],
  darwin: ['x64', 'arm64'],
};

const INSTEAD = 'Set DATABASE_URL to a PostgreSQL server (15 or newer) instead.';

/** The machine that this process runs on. */
export function currentPlatform(): Platform {
  return { system: process.platform, architecture: process.arch, glibc: glibcVersion() };
}

/** Why the embedded database cannot run on a platform, in words, or undefined when it can. */
export function platformProblem(platform: Platform): string | undefined {
  const name = `${platform.system}-${platform.architecture}`;
  if (!ARCHITECTURES[platform.system]?.includes(platform.architecture)) {
    return `The embedded database has no PostgreSQL binaries for ${name}. ${INSTEAD}`;
  }
  if (platform.system === 'linux' && platform.glibc === undefined) {
    return `The embedded database needs glibc, and this ${name} system has another C library (musl, as on Alpine). ${INSTEAD}`;
  }
  return undefined;
}

function glibcVersion(): string | undefined {
  if (process.platform !== 'linux') return undefined;
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return report.header?.glibcVersionRuntime;
}
