// Serves the built server on the database and settings of the environment, with the HTTP bounds that the first argument
// names as JSON, and prints the URL and what the server was set to.
import { migrations } from '../../dist/migrations/index.js';
import { createApplication, listen } from '../../dist/src/app.js';
import { readConfig } from '../../dist/src/config.js';
import { defaultHttpBounds } from '../../dist/src/http-bounds.js';
import { CredentialsService } from '../../dist/src/credentials.service.js';
import { openPlatform } from '../../dist/src/platform.js';

const { settings } = readConfig(process.env);
const platform = await openPlatform(settings, migrations);
const application = await createApplication(platform, { ...defaultHttpBounds, ...JSON.parse(process.argv[2]) });
await application.get(CredentialsService).adoptAdminKey(settings.WARREN_ADMIN_KEY);
const url = await listen(application, platform);
const { headersTimeout, requestTimeout, keepAliveTimeout, maxConnections } = application.getHttpServer();
const set = { headersTimeout, requestTimeout, keepAliveTimeout, maxConnections };
process.stdout.write(`${JSON.stringify({ url, ...set })}\n`);
process.once('SIGTERM', () => void stop());

async function stop() {
  application.getHttpServer().closeAllConnections();
  await application.close();
  await platform.close();
}
