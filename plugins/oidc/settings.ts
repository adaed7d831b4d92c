import { isGlobalHost } from '../../core/http/addresses.ts'
import type { Config } from '../../core/config/config.ts'
import { shareableBaseUrl } from '../../core/config/base-url.ts'
import type { SectionOf } from '../../core/config/section.ts'
import { oidcConfig } from './config.ts'

/** The configuration of a usable provider. */
export type OidcSettings = Omit<SectionOf<typeof oidcConfig>, 'client_id' | 'redirect_uri'> & {
  client_id: string
  /** The provider's discovery document. */
  metadata_url: URL
  /** The only address to which people are sent back; never derived from a request. */
  redirect_uri: URL
}

export const CALLBACK_PATH = '/api/oauth/openid'
const WELL_KNOWN = '/.well-known/openid-configuration'

/**
 * True if nobody can read traffic to the address on its way: it uses TLS, or stays within this machine or network,
 * where providers often run without TLS.
 */
export const isPrivateLine = (url: URL) =>
  url.protocol === 'https:' || (url.protocol === 'http:' && !isGlobalHost(url.hostname))

const toUrl = (text: string | undefined) => text === undefined ? null : URL.parse(text)

function findMetadataUrl (
  { server_metadata_url: document, server_application_url: issuer }: SectionOf<typeof oidcConfig>
): URL | null {
  return toUrl(document) ?? toUrl(issuer === undefined ? undefined : `${issuer.replace(/\/+$/, '')}${WELL_KNOWN}`)
}

function findRedirectUri (config: Config): URL | null {
  const base = shareableBaseUrl(config)
  return toUrl(oidcConfig.of(config).redirect_uri ?? (base === null ? undefined : `${base}${CALLBACK_PATH}`))
}

function describeMetadataUrl (url: URL | null): string | null {
  if (url === null) {
    return 'neither OIDC_SERVER_APPLICATION_URL nor OIDC_SERVER_METADATA_URL is set: set one to a URL of the provider'
  }
  if (isPrivateLine(url)) return null
  return `the provider's address ${url.origin} is plain http over the internet: use https`
}

/**
 * Returns the settings if sign-in by OpenID Connect is on and possible, else null. `problems` lists the reasons why it
 * cannot work although it is on.
 */
export function readSettings (config: Config): { settings: OidcSettings | null, problems: string[] } {
  const oidc = oidcConfig.of(config)
  if (!oidc.enabled) return { settings: null, problems: [] }
  const { client_id: clientId } = oidc
  const metadataUrl = findMetadataUrl(oidc)
  const redirectUri = findRedirectUri(config)
  const problems = [
    clientId === undefined ? 'OIDC_CLIENT_ID is not set: set it to the id that the provider gave this server' : null,
    describeMetadataUrl(metadataUrl),
    redirectUri === null ? 'OIDC_REDIRECT_URI is not set and SVC_BASE_URL has no real host: set one of them' : null
  ].filter((problem) => problem !== null)
  if (problems.length > 0 || clientId === undefined || metadataUrl === null || redirectUri === null) {
    return { settings: null, problems }
  }
  return { settings: { ...oidc, client_id: clientId, metadata_url: metadataUrl, redirect_uri: redirectUri }, problems }
}
