import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import type { PluginPackage } from '../../core/loader/packages.ts'
import { type PlannedResponse, fitsRequest, loadResponses } from '../../sdk/testing/responses.ts'
import { type LocalServer, startServer } from '../core/http/server.ts'

/** A provider that comes with the server, as a package whose requests go to the server of the test. */
export const redirectedPackage = (key: string): PluginPackage => ({
  folder: fileURLToPath(new URL('fixtures/', import.meta.url)),
  name: `@svc/provider-${key}`,
  version: '1.0.0',
  manifest: { kind: 'provider', key, sdk: '^1' },
  entry: fileURLToPath(new URL(`fixtures/redirected-${key}.ts`, import.meta.url)),
  origin: 'built-in',
  problem: null
})

/** Answers from the fixtures of a provider; what `more` plans goes first. */
export async function startSource (t: Test, key: string, more: readonly PlannedResponse[] = []): Promise<LocalServer> {
  const planned = [...more, ...loadResponses(new URL(`../../providers/${key}/test/fixtures`, import.meta.url))]
  return await startServer(t, ({ url = '', method = 'GET' }, response) => {
    const request = { url: `https:/${url}`, method, headers: {}, body: '' }
    const { status = 200, headers = {}, json, text, bytes } = planned.find((one) => fitsRequest(one, request)) ??
      { status: 404, text: 'nothing planned' }
    response.writeHead(status, { ...headers }).end(bytes ?? (json === undefined ? text : JSON.stringify(json)))
  })
}
