import { describe, expect, it } from '@jest/globals';
import type { Settings } from '../../config.js';
import type { Instance } from '../../instance.js';
import { Redactor } from '../../redactor.js';
import { ProviderProcesses } from './provider-processes.js';

describe('ProviderProcesses', () => {
  it('gives the slot back when no working directory can be made', async () => {
    const settings = { WARREN_MAX_PROCESSES: 1, WARREN_STDIO: 'on', WARREN_STDIO_COMMANDS: [], PATH: '/usr/bin:/bin' };
    // a part of the directory's name: in a directory that is not there, none can be made
    const instance = { owner: 'missing/1', nextChildMarker: () => 'test' };
    // only what a launch reads of them
    const processes = new ProviderProcesses(settings as unknown as Settings, instance as unknown as Instance);
    const launch = () =>
      processes.launch(
        { id: 'line', redactor: Redactor.empty },
        { transport: 'stdio', command: process.execPath, args: ['-e', ''], environment: {}, cwd: null },
        AbortSignal.timeout(2_000),
      );
    await expect(launch()).rejects.toMatchObject({ kind: 'unreachable', message: expect.stringContaining('ENOENT') });
    instance.owner = `${process.pid}-1`;
    const child = await launch();
    await child.ended;
  });
});
