import { Command, InvalidArgumentError } from 'commander';
import { ConfigError, readProcessConfig, type Config } from '../config.js';
import { WrongKeyError } from '../platform.js';
import { operatorScopes, type OperatorScope } from '../principal.js';
import { version } from '../version.js';
import { printAuditHead, verifyAudit } from './audit.command.js';
import { complaintOf } from './complaint.js';
import { createKey } from './keys.command.js';
import { migrate } from './migrate.command.js';
import { quickstart } from './quickstart.command.js';
import { newSecretKey, rotateSecrets, showSecretStatus } from './secrets.command.js';
import { serve } from './serve.command.js';
import { showConfig } from './config.command.js';

/** sysexits.h EX_CONFIG: the environment or the keyring is wrong; starting again will not help. */
const EXIT_CONFIG = 78;

/** What is left over of a finished command may hold its process for this long, milliseconds. */
const LEFTOVERS_MS = 1_000;

/** The `warren` command. Sets the exit code; never throws. */
export async function run(argv: readonly string[]): Promise<void> {
  // a closed terminal or a dead log collector must not keep this process from ending in order
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  try {
    await program().parseAsync([...argv]);
  } catch (error) {
    process.exitCode = error instanceof ConfigError || error instanceof WrongKeyError ? EXIT_CONFIG : 1;
    console.error(complaintOf(error, process.exitCode === 1));
  }
  setTimeout(() => process.exit(), LEFTOVERS_MS).unref();
}

function program(): Command {
  const warren = new Command('warren').description('Tools for agents, under exact grants.').version(version);
  warren
    .command('serve')
    .description('start the server')
    .action(() => serve(config()));
  warren
    .command('quickstart')
    .description('start the server with a demo: one provider, one agent, three granted tools')
    .action(() => quickstart(config()));
  warren
    .command('migrate')
    .description('bring the database schema up to date, then end')
    .action(() => migrate(config()));
  warren
    .command('config')
    .description('print the effective configuration and where each value came from; secrets are masked')
    .option('--json', 'as JSON')
    .action(({ json }: { json?: true }) => showConfig(config(), json === true));
  const keys = warren.command('keys').description('operator keys');
  keys
    .command('create')
    .description('create an operator key straight in the database and print it once')
    .requiredOption('--scope <scope...>', `one or more of: ${operatorScopes.join(', ')}`, collectScope)
    .option('--name <name>', 'what the key is for', 'command line')
    .option('--expires-at <time>', 'RFC 3339 time at which it stops working')
    .action(({ scope, name, expiresAt }: { scope: OperatorScope[]; name: string; expiresAt?: string }) =>
      createKey(config(), { scopes: scope, name, expiresAt }),
    );
  const audit = warren.command('audit').description('the record of what operators changed');
  audit
    .command('verify')
    .description('check that no entry is missing, edited or out of order')
    .option('--head <head>', 'what `warren audit head` printed earlier: finds entries cut off since')
    .action(({ head }: { head?: string }) => verifyAudit(config(), head));
  audit
    .command('head')
    .description('print where the log ends, to keep it elsewhere')
    .action(() => printAuditHead(config()));
  const secrets = warren.command('secrets').description('encryption at rest');
  secrets.command('new-key').description('print a fresh keyring entry').action(newSecretKey);
  secrets
    .command('rotate')
    .description('seal every secret under the first key of the keyring, also while servers run')
    .action(() => rotateSecrets(config()));
  secrets
    .command('status')
    .description('how many secrets are sealed under which key')
    .action(() => showSecretStatus(config()));
  return warren;
}

function config(): Config {
  return readProcessConfig();
}

function collectScope(value: string, earlier: OperatorScope[] | undefined): OperatorScope[] {
  const scope = operatorScopes.find((known) => known === value);
  if (scope === undefined) throw new InvalidArgumentError(`use ${operatorScopes.join(', ')}`);
  return [...(earlier ?? []), scope];
}
