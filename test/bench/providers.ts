import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { type Server, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

export const LATENCY_MS = 50
export const CONCURRENCY = 8
export const PROVIDERS = ['bench-a', 'bench-b', 'bench-c']

/** A provider as an installed package: plain JavaScript that sends one request for each ROM. */
const packageJson = (key: string) => ({
  name: `svc-provider-${key}`,
  version: '1.0.0',
  type: 'module',
  keywords: ['svc-plugin'],
  svc: { kind: 'provider', key, sdk: '^2' },
  exports: './index.js'
})

/** Returns the code of a provider that sends one request for each ROM, without a rate limit. */
export const sourceOf = (key: string, sdk = '@svc/plugin-sdk', concurrency = CONCURRENCY) => `import { Type, defineProvider } from '${sdk}'

export default defineProvider({
  key: '${key}',
  name: '${key}',
  id: 'integer',
  config: Type.Object({ baseUrl: Type.String() }),
  limits: { concurrency: ${concurrency} },
  async identify (rom, { config, http }) {
    return await http.json(config.baseUrl + '/games', { query: { title: rom.fs_name_no_tags, sha1: rom.sha1_hash } })
  }
})
`

export interface ProviderServers {
  urls: Record<string, string>
  /** Number of answered requests so far. */
  count (): number
  close (): void
}

/** Starts a provider's service with slow responses. */
async function startServer (onAnswer: () => number): Promise<Server> {
  const server = createServer((request, response) => {
    setTimeout(() => {
      const id = onAnswer()
      const title = new URL(request.url ?? '/', 'http://localhost').searchParams.get('title') ?? ''
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ id, name: title, summary: `What is known of ${title}`, genres: ['Action'] }))
    }, LATENCY_MS)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

export async function startProviderServers (keys: readonly string[] = PROVIDERS): Promise<ProviderServers> {
  let answers = 0
  const urls: Record<string, string> = {}
  const servers: Server[] = []
  for (const key of keys) {
    const server = await startServer(() => ++answers)
    servers.push(server)
    urls[key] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  return {
    urls,
    count: () => answers,
    close () {
      for (const server of servers) {
        server.close()
        server.closeAllConnections()
      }
    }
  }
}

/** Installs the provider packages into a data directory and writes their addresses into its config.yml. */
export function installProviders (dataDir: string, urls: Readonly<Record<string, string>>): void {
  const names = PROVIDERS.map((key) => packageJson(key).name)
  for (const key of PROVIDERS) {
    const folder = join(dataDir, 'plugins', 'node_modules', packageJson(key).name)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), JSON.stringify(packageJson(key)))
    writeFileSync(join(folder, 'index.js'), sourceOf(key))
  }
  const dependencies = Object.fromEntries(names.map((name) => [name, '1.0.0']))
  writeFileSync(join(dataDir, 'plugins', 'package.json'), JSON.stringify({ private: true, dependencies }))
  const plugins = Object.fromEntries(PROVIDERS.map((key) => [key, { baseUrl: urls[key] }]))
  // JSON is valid YAML.
  writeFileSync(join(dataDir, 'config.yml'), JSON.stringify({ plugins }))
}
