import { type ChannelDefinition, type Context, HttpStatusError, type HttpClient, type HttpResponse } from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import type { Agent } from 'undici'
import { type AddressRules, originOf } from '../../../core/http/addresses.ts'
import { createHttpClient, openAgent } from '../../../core/http/client.ts'
import { USER_AGENT } from '../../../core/loader/services.ts'
import { createLruCache } from '../../../core/lru-cache.ts'
import type { Loaded } from '../../../core/loader/registry.ts'
import { type Settings, type StoredSettings, isTrusted } from '../sealed-settings.ts'

/** Settings of a channel, and the rights of its owner. */
export interface ChannelSubject {
  type: string
  settings: Settings
  /** Names of secrets among the fields of a service; empty if they are unknown. */
  secret_keys: readonly string[]
  /** True if the owner administers the server and may reach its network. */
  is_admin: boolean
}

/** @param isAdmin true if the owner of the channel is an administrator */
export const toSubject = (type: string, stored: StoredSettings, isAdmin: boolean): ChannelSubject => ({
  type,
  settings: stored.settings,
  secret_keys: stored.view.stored_secrets ?? [],
  is_admin: isTrusted(stored, isAdmin)
})

const AGENTS_MAX = 64
/** A shorter text is no real secret, and masking it would hit parts of ordinary words. */
const SECRET_MIN_LENGTH = 4

const isWebAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value)

/** Returns the web addresses among settings. The part after their host is often a secret. */
export const listAddresses = (settings: Settings): string[] => Object.values(settings).filter(isWebAddress)

/** Returns the secrets of settings, which logs and errors must mask. */
export function listSecrets ({ settings, secret_keys: keys }: ChannelSubject, definition: ChannelDefinition): string[] {
  const properties = Object.entries(definition.settings.properties)
  const marked = properties.filter(([, schema]) => schema.writeOnly === true).map(([name]) => settings[name])
  const fields = (settings.fields ?? {}) as Record<string, unknown>
  const named = keys.flatMap((key) => fields[key]).map((value) => typeof value === 'number' ? String(value) : value)
  const texts = [...marked, ...named].filter((value): value is string => typeof value === 'string')
  return [...listAddresses(settings), ...texts.filter((text) => text.length >= SECRET_MIN_LENGTH)]
}

/**
 * Returns the addresses that a channel may reach besides the public internet. A channel of an administrator may reach
 * the host and port of its own addresses. An admin-only channel type builds its addresses itself, and is trusted with
 * them.
 */
function rulesOf ({ definition, trust }: Loaded<ChannelDefinition>, subject: ChannelSubject): AddressRules {
  const { settings, is_admin: isAdmin } = subject
  const ownOrigins = isAdmin ? listAddresses(settings).map(originOf) : []
  return { trustedOrigins: [...trust.origins, ...ownOrigins], allowPrivate: isAdmin && definition.adminOnly === true }
}

/**
 * Wraps a client so that it hides refusing responses. They may reveal the network to an owner who is not an
 * administrator, and errors often quote them.
 */
function withoutRefusals (http: HttpClient): HttpClient {
  const withoutBody = (answer: HttpResponse): HttpResponse =>
    answer.status < 300 ? answer : { ...answer, bytes: new Uint8Array(), text: () => '', json: () => null }
  async function hide<Result> (request: Promise<Result>): Promise<Result> {
    return await request.catch((err: unknown) => {
      throw err instanceof HttpStatusError ? new HttpStatusError(err.status, err.message, '') : err
    })
  }
  return {
    ...http,
    request: async (url, options) => withoutBody(await hide(http.request(url, options))),
    json: (url, options) => hide(http.json(url, options)),
    text: (url, options) => hide(http.text(url, options))
  }
}

/**
 * Creates the HTTP clients of channels. Each client reaches only what its owner may, and masks the secrets of its
 * settings.
 */
export function createChannelHttp (app: FastifyInstance) {
  /**
   * Separate agents per address rules, because a connection of one channel must not serve another one that may not
   * reach its host.
   */
  const agents = createLruCache<string, Promise<Agent>>({
    max: AGENTS_MAX, onEvict: (agent) => { void agent.then((evicted) => evicted.close(), () => {}) }
  })

  function agentFor (rules: AddressRules): Promise<Agent> {
    const { trustedOrigins = [], allowPrivate } = rules
    const key = allowPrivate === true ? 'any' : trustedOrigins.toSorted().join(' ')
    const known = agents.get(key)
    if (known !== undefined) return known
    const agent = openAgent(rules)
    agents.set(key, agent)
    // The next delivery tries again.
    agent.catch(() => { agents.delete(key) })
    return agent
  }

  app.addHook('onClose', async () => { await Promise.all(agents.values().map(async (agent) => (await agent).destroy())) })

  return {
    /** Returns the client that replaces the one of a context. */
    open (loaded: Loaded<ChannelDefinition>, subject: ChannelSubject, { log, cache, signal }: Context): HttpClient {
      const rules = rulesOf(loaded, subject)
      const client = createHttpClient({
        ...rules,
        name: loaded.key,
        userAgent: USER_AGENT,
        log,
        store: cache,
        dispatcher: () => agentFor(rules),
        secrets: [...loaded.trust.secrets, ...listSecrets(subject, loaded.definition)]
      }).withSignal(signal, { throwsRateLimits: true })
      return subject.is_admin ? client : withoutRefusals(client)
    }
  }
}
