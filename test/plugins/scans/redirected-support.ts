import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { PluginPackage } from '../../../core/loader/packages/packages.ts'
import { type PlannedResponse, matchesRequest, loadResponses } from '../../../sdk/src/testing/responses.ts'
import { type LocalServer, readRequest, startServer } from '../../core/http/server.ts'

const urlOf = (path: string) => new URL(path, import.meta.url).href

/** Returns a built-in provider as a package whose requests go to the test server. */
export function redirectedPackage (t: Test, key: string): PluginPackage {
  const folder = mkdtempSync(join(tmpdir(), 'svc-redirected-'))
  t.teardown(() => { rmSync(folder, { recursive: true }) })
  const entry = join(folder, 'index.mjs')
  writeFileSync(entry, `import provider from '${urlOf(`../../../providers/${key}/src/index.ts`)}'
import { redirectedProvider } from '${urlOf('../fixtures/redirected.ts')}'
export default redirectedProvider(provider)
`)
  return {
    folder,
    name: `@svc/provider-${key}`,
    version: '1.0.0',
    manifest: { kind: 'provider', key, sdk: '^2' },
    entry,
    origin: 'built-in',
    problem: null
  }
}

/** A server of a provider that can simulate failures. */
export interface Source extends LocalServer {
  /** Answers all requests in place of the fixtures; null for the fixtures. */
  failure: ((response: ServerResponse) => void) | null
}

/** Answers a request whose path begins with the original host. */
export async function answerPlanned (
  asked: IncomingMessage, response: ServerResponse, planned: readonly PlannedResponse[]
): Promise<void> {
  const { url = '', method = 'GET' } = asked
  const request = { url: `https:/${url}`, method, headers: {}, body: await readRequest(asked) }
  const { status = 200, headers = {}, json, text, bytes } = planned.find((one) => matchesRequest(one, request)) ??
    { status: 404, text: 'nothing planned' }
  response.writeHead(status, { ...headers }).end(bytes ?? (json === undefined ? text : JSON.stringify(json)))
}

export const loadFixtures = (key: string): PlannedResponse[] =>
  loadResponses(new URL(`../../../providers/${key}/test/fixtures`, import.meta.url))

/** Starts a server with the fixtures of a provider; `more` has precedence. */
export async function startSource (t: Test, key: string, more: readonly PlannedResponse[] = []): Promise<Source> {
  const planned = [...more, ...loadFixtures(key)]
  const server = await startServer(t, async (asked, response) => {
    if (source.failure !== null) {
      source.failure(response)
      return
    }
    await answerPlanned(asked, response, planned)
  })
  const source: Source = { ...server, failure: null }
  return source
}
