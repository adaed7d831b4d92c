// Writes the types of requests, responses and events for the pages in the browser: npm run types
// They come from the schemas of routes and events, which a server without plugins declares on an empty database.
import { mkdtemp, readFile, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'
import { pino } from 'pino'
import { buildApp } from '../core/app.ts'
import { loadConfig } from '../core/config/config.ts'
import { migrate } from '../core/database/database.ts'
import { startEmbeddedPostgres } from '../core/postgres/embedded.ts'
import { SERVER_DIR } from '../core/server-dir.ts'
import { features } from '../plugins/index.ts'

const TARGET = join(SERVER_DIR, 'plugins', 'console', 'web', 'api', 'schema.d.ts')
const SOURCES = ['core', 'plugins', 'sdk/src', '.ci/api-types.ts']

type Schema = Record<string, unknown>
interface Document { components: { schemas: Record<string, Schema> } }
interface Events {
  components: { messages: Record<string, { name: string, payload: Schema }>, schemas: Record<string, Schema> }
}

/** Returns when a schema may last have changed. */
async function readSourceTime (): Promise<number> {
  const lists = await Promise.all(SOURCES.map(async (path) => {
    if (path.endsWith('.ts')) return [join(SERVER_DIR, path)]
    return (await readdir(join(SERVER_DIR, path), { recursive: true })).filter((name) => name.endsWith('.ts') && !/^console\b/.test(name))
      .map((name) => join(SERVER_DIR, path, name))
  }))
  return Math.max(...await Promise.all(lists.flat().map(async (path) => (await stat(path)).mtimeMs)))
}

/** Adds the payloads of events as one schema, so that one pass makes all types. */
function withEvents (document: Document, { components }: Events): Document {
  const payloads = Object.values(components.messages).map(({ name, payload }) => [name, payload] as const)
  const ServerEvents = { type: 'object', properties: Object.fromEntries(payloads), required: payloads.map(([name]) => name) }
  return {
    ...document, components: { ...document.components, schemas: { ...components.schemas, ...document.components.schemas, ServerEvents } }
  }
}

async function readDocument (): Promise<Document> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-types-'))
  const database = await startEmbeddedPostgres({ dataDir: join(folder, 'db'), log: () => {}, settings: { fsync: 'off' } })
  try {
    const config = loadConfig(await features.loadSections(), {
      SVC_DATA_DIR: folder, SVC_LIBRARY_DIR: folder, SVC_AUTH_SECRET_KEY: 'a key for types only', SVC_LOG_LEVEL: 'silent'
    }).config
    await migrate({ url: database.url, poolSize: 1, ...await features.loadTables() })
    const app = await buildApp({
      config, role: 'web', databaseUrl: database.url, logger: pino({ level: 'silent' }), features, packages: []
    })
    const read = async (url: string) => (await app.inject({ url })).json<unknown>()
    const document = withEvents(await read('/openapi.json') as Document, await read('/asyncapi.json') as Events)
    await app.close()
    return document
  } finally {
    await database.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

const made = await stat(TARGET).then(({ mtimeMs }) => mtimeMs, () => 0)
if (made < await readSourceTime()) {
  const types = astToString(await openapiTS(await readDocument() as unknown as OpenAPI3, { defaultNonNullable: false }))
  const text = `/** Made by npm run types. */\n${types}`
  // The time alone changes if the types do not, so that nothing else is checked again.
  if (await readFile(TARGET, 'utf8').catch(() => '') === text) await utimes(TARGET, new Date(), new Date())
  else await writeFile(TARGET, text)
}
