import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { isRoot } from '../src/data-directory.js';
import { serverAccount } from '../src/embedded-postgres.account.js';
import { temporaryDataDirectory } from './support/temporary-data-directory.js';
import { WarrenCommand } from './support/warren-command.js';

(isRoot() ? describe : describe.skip)('WARREN_STDIO_USER, to root', () => {
  it('may not be the user of the embedded database, and nothing is made then', async () => {
    const root = temporaryDataDirectory();
    const data = path.join(root, 'data');
    const uid = String(serverAccount(data)?.uid);
    const accounts = readFileSync('/etc/passwd', 'utf8').split('\n');
    const [name = ''] = accounts.map((line) => line.split(':')).find((fields) => fields[2] === uid) ?? [];
    const environment = { HOME: root, PORT: '0', WARREN_DATA_DIR: data, WARREN_STDIO_USER: name };
    const command = new WarrenCommand(['serve'], { environment });
    try {
      const outcome = command.says(/serves/).then(
        () => 'it serves',
        () => command.ended,
      );
      expect(await outcome).toMatchObject({ code: 1 });
      expect(command.errors).toContain(`WARREN_STDIO_USER names ${name}, the user that the embedded database runs as`);
      expect(existsSync(path.join(data, 'postgres'))).toBe(false);
    } finally {
      await command.signal('SIGTERM');
      rmSync(root, { recursive: true, force: true });
    }
  });
});
