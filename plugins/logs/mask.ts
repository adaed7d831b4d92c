const MASK = '********'

/** Patterns of secrets in a text: in an address, in a header, or alone. */
const SECRETS: readonly (readonly [pattern: RegExp, shown: string])[] = [
  [/([?&](?:token|key|code|password|secret|state|[a-z_]*(?:token|secret|password|key))=)[^&\s"'<>]+/gi, `$1${MASK}`],
  [/\b(Bearer|Basic) +[\w.~+/=-]{8,}/gi, `$1 ${MASK}`],
  [/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@"']+@/gi, `$1${MASK}@`],
  // Tokens: client API tokens, and those of OAuth2.
  [/\b[a-z0-9]{2,16}_[\da-f]{64}\b/g, MASK],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+/g, MASK]
]

/** Masks everything in a text that is or resembles a secret. */
export const maskText = (text: string): string =>
  SECRETS.reduce((masked, [pattern, shown]) => masked.replaceAll(pattern, shown), text)
