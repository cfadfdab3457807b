import { register } from 'node:module';

/** Plain JavaScript, because jest compiles a TypeScript one to CommonJS. */
export default async function globalSetup() {
  register('./typescript-loader.mjs', import.meta.url);
  const { startTestServer } = await import('./test-server.ts');
  globalThis.stopTestServer = await startTestServer();
}
