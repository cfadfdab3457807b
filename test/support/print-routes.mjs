// Composes the built server on the database and settings of the environment and prints Fastify's route tree.
import { migrations } from '../../dist/migrations/index.js';
import { createApplication } from '../../dist/src/app.js';
import { readConfig } from '../../dist/src/config.js';
import { openPlatform } from '../../dist/src/platform.js';

const platform = await openPlatform(readConfig(process.env).settings, migrations);
const application = await createApplication(platform);
await application.init();
process.stdout.write(`${application.getHttpAdapter().getInstance().printRoutes({ commonPrefix: false })}\n`);
await application.close();
await platform.close();
