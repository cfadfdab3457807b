import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { writeFile } from 'node:fs/promises';
import { AppModule } from './app.module.js';
import { readConfig } from './config.js';
import { createOpenApi } from './openapi.js';
import type { Platform } from './platform.js';

/** Writes the OpenAPI document of the routes to a file. Needs no database: nothing is instantiated. */
export async function writeOpenApi(file: string): Promise<void> {
  const { settings } = readConfig({});
  const application = await NestFactory.create(AppModule.on({ settings } as Platform), new FastifyAdapter(), {
    preview: true,
    logger: false,
  });
  await writeFile(file, `${JSON.stringify(createOpenApi(application), undefined, 2)}\n`);
}
