import { ServiceDownError } from '@svc/plugin-sdk'
import { readDetails } from './details.ts'
import { type Fields, type Form, schemasOf } from './form.ts'
import type { Service } from './service.ts'
import { SERVICES } from './services/index.ts'
import type { AppriseContext } from './settings.ts'
import { writeUrl } from './url.ts'

// Calls of an Apprise API server: https://github.com/caronc/apprise-api#api-details
const DETAILS_CACHE_MS = 60 * 60 * 1000
const DETAILS_LIMITS = { timeoutMs: 10_000, maxBytes: 8 * 1024 * 1024, redirects: 0 }

/**
 * Returns the services that only the bridge knows; none without a bridge.
 *
 * @throws ServiceDownError when the bridge does not answer
 */
export async function fetchBridged ({ config, http }: AppriseContext): Promise<Form[]> {
  if (config.apiUrl === undefined) return []
  const details = await http.json(toAddress(config.apiUrl, 'details'), {
    headers: { accept: 'application/json' }, cacheMs: DETAILS_CACHE_MS, ...DETAILS_LIMITS
  })
  const forms = readDetails(details)
  if (forms.length === 0) throw new ServiceDownError('The Apprise API server describes no service; check SVC_APPRISE_API_URL')
  const ownSchemas = new Set(SERVICES.flatMap(schemasOf))
  return forms.filter((form) => !schemasOf(form).some((schema) => ownSchemas.has(schema)))
}

/** Returns the result of {@link fetchBridged}, or an empty list when the bridge fails. */
export async function listBridged (ctx: AppriseContext): Promise<Form[]> {
  try {
    return await fetchBridged(ctx)
  } catch (err) {
    ctx.signal.throwIfAborted()
    ctx.log.warn({ err }, 'the Apprise API server does not answer; only the built-in services are offered')
    return []
  }
}

/** Creates a service that is reached through the bridge: one URL per call, in the body. */
export function toBridgedService (form: Form, fields: Fields, apiUrl: string): Service {
  const urls = writeUrl(form, fields)
  return {
    ...form,
    rendering: { limits: { title: 250, text: 32_000 }, hasLinkField: false, hasMentions: true },
    toRequests: (_values, { title, text, type }) => [{
      url: toAddress(apiUrl, 'notify'),
      headers: { accept: 'application/json' },
      json: { urls, title, body: text, type, format: 'text' }
    }],
    // Status 204 means that the server found no service in the URL.
    isAccepted: ({ status }) => status === 200
  }
}

function toAddress (apiUrl: string, call: string): string {
  return `${apiUrl.replace(/\/+$/, '')}/${call}`
}
