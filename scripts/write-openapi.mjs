import { writeOpenApi } from '../dist/src/openapi-writer.js';

await writeOpenApi('openapi/openapi.json');
