import { readFile } from 'node:fs/promises'
import {
  type ClientAuth, ClientSecretBasic, ClientSecretPost, type Configuration, type CustomFetch, None,
  allowInsecureRequests, customFetch, discovery
} from 'openid-client'
import type { Agent } from 'undici'
import { ApiError } from '../../core/errors.ts'
import { type OidcSettings, isPrivateLine } from './settings.ts'

/** Limit of each request, from the connection to the last byte. */
const TIMEOUT_SECONDS = 10
/** Discovery documents, tokens and profiles are a few KiB. */
const ANSWER_MAX_BYTES = 1024 * 1024
/** Cache lifetime of the provider's configuration. Providers rarely change their addresses. */
const CACHE_MS = 60 * 60_000

/** Authenticates as the provider requires. The default is Basic, by OpenID Connect Discovery 1.0 section 3. */
function authenticateClient (secret: string | undefined): ClientAuth {
  if (secret === undefined) return None()
  const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)]
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const chosen = methods.includes('client_secret_basic') ? basic : post
    chosen(server, client, body, headers)
  }
}

async function createAgent (caFile: string | undefined): Promise<Agent> {
  const { Agent } = await import('undici')
  const { getCACertificates } = await import('node:tls')
  const ca = caFile === undefined ? undefined : [...getCACertificates('default'), await readFile(caFile, 'utf8')]
  return new Agent({ maxResponseSize: ANSWER_MAX_BYTES, ...(ca === undefined ? {} : { connect: { ca } }) })
}

/** The provider's configuration, loaded at its first use, again after a failure, and every hour. */
export function createProvider (settings: OidcSettings) {
  let agent: Promise<Agent> | null = null
  let cached: { configuration: Promise<Configuration>, until: number } | null = null

  /** A file that cannot be read now may be readable at the next try. */
  function openAgent (): Promise<Agent> {
    agent ??= createAgent(settings.tls_cacertfile).catch((err: unknown) => {
      agent = null
      // The error for the user names the setting. Only the log has the path.
      throw new ApiError('UNAVAILABLE', 'The file that OIDC_TLS_CACERTFILE names cannot be read; an administrator should ' +
        'check the path', { cause: err })
    })
    return agent
  }

  const fetchFromProvider: CustomFetch = async (url, options) => {
    if (!isPrivateLine(new URL(url))) throw new TypeError(`The provider's address '${url}' must be https`)
    const [{ fetch }, dispatcher] = await Promise.all([import('undici'), openAgent()])
    return await fetch(url, { ...options, dispatcher })
  }

  async function discover (): Promise<Configuration> {
    const { metadata_url: url, client_id: id, client_secret: secret } = settings
    // Open the agent here, because the library would wrap the reason of a failure.
    await openAgent()
    return await discovery(url, id, undefined, authenticateClient(secret), {
      // The code above decides for every request which plain addresses are allowed.
      execute: [allowInsecureRequests], timeout: TIMEOUT_SECONDS, [customFetch]: fetchFromProvider
    })
  }

  return {
    /** Concurrent calls share one request. */
    async read (): Promise<Configuration> {
      if (cached === null || cached.until < performance.now()) {
        const configuration = discover()
        cached = { configuration, until: performance.now() + CACHE_MS }
        configuration.catch(() => { cached = null })
      }
      return await cached.configuration
    },

    /** Loads the configuration again at its next use, because the provider may have moved. */
    forget (): void { cached = null },

    async close (): Promise<void> {
      await (await agent)?.close()
    }
  }
}
export type Provider = ReturnType<typeof createProvider>
