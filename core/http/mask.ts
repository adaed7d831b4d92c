const MASK = '***'

/** Query parameters and headers that carry credentials, by name: `api_key`, `devpassword`, `X-Api-Token`, … */
const SECRET_NAME = /^(?:.*[-_.])?(?:key|auth|pass|sig|signature|cookie|authorization)$|(?:apikey|token|secret|password|passwd)$/i

export function isSecretName (name: string): boolean {
  return SECRET_NAME.test(name)
}

export interface Mask {
  /** Returns the text with every secret replaced, even if it is percent-encoded, form-encoded or escaped for JSON. */
  text (text: string): string
  /** Returns path and query of a URL, without the values of parameters that carry credentials. */
  path (url: URL): string
  /** Returns host, port, path and masked query; never the user name and password of the URL. */
  url (url: URL): string
}

/**
 * Creates a mask. @param secrets values that no log line and no message may contain; the path and query of a URL are
 * secret too.
 */
export function createMask (secrets: readonly string[]): Mask {
  const forms = [...new Set(secrets.flatMap(findParts).flatMap(encode))]
    .filter((form) => form !== '')
    .sort((a, b) => b.length - a.length)
  const text = (plain: string): string => forms.reduce((masked, form) => masked.replaceAll(form, MASK), plain)
  const path = (url: URL): string => text(`${url.pathname}${maskQuery(url.search)}`)
  return { text, path, url: (url) => `${text(url.host)}${path(url)}` }
}

function maskQuery (search: string): string {
  return search.replace(/([?&])([^=&]*)=([^&]*)/g, (pair: string, separator: string, name: string) =>
    isSecretName(decode(name)) ? `${separator}${name}=${MASK}` : pair)
}

/** Decodes a parameter's name. A wrongly encoded name is none of our credentials and is compared unchanged. */
function decode (name: string): string {
  if (!/[%+]/.test(name)) return name
  return new URLSearchParams(`n=${name}`).get('n') ?? name
}

function findParts (secret: string): string[] {
  if (!/^https?:\/\//i.test(secret) || !URL.canParse(secret)) return [secret]
  const { pathname, search, password } = new URL(secret)
  const path = pathname === '/' ? [] : [pathname]
  return [secret, ...path, search.slice(1), password]
}

function encode (secret: string): string[] {
  const percent = encodeURIComponent(secret.toWellFormed())
  const form = new URLSearchParams({ s: secret }).toString().slice(2)
  return [secret, percent, form, form.replaceAll('+', '%20'), JSON.stringify(secret).slice(1, -1)]
}
