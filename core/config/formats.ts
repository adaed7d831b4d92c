import { FormatRegistry } from '@sinclair/typebox'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import proxyAddr from '@fastify/proxy-addr'
import { isCron } from './cron.ts'
import { explainStoreUrl } from '../store/s3/address.ts'

interface Format {
  isValid: (text: string) => boolean
  /** A noun phrase for messages: "… is not <words>". */
  words: string
}

const hasHttp = (text: string) => /^https?:\/\/[^\s/]/.test(text) && URL.canParse(text)

function isNetwork (text: string): boolean {
  try {
    proxyAddr.compile([text])
    return true
  } catch {
    return false
  }
}

/**
 * True for a database URL. The password may contain a bare %, which is invalid in a URL and which the database client
 * also refuses.
 */
function isDatabaseUrl (text: string): boolean {
  if (!/^postgres(?:ql)?:\/\//.test(text)) return false
  try {
    // The client allows a URL without a host, as before the folder of a socket in the query.
    const url = new URL(text.replace('@/', '@socket/'))
    decodeURIComponent(url.username + url.password + url.pathname)
    return true
  } catch {
    return false
  }
}

/** True for a host and a port, without anything else. */
function isHostPort (text: string): boolean {
  if (!/^(?:[\w.-]+|\[[\da-f:.]+\]):\d{1,5}$/i.test(text) || !URL.canParse(`tcp://${text}`)) return false
  return Number(text.slice(text.lastIndexOf(':') + 1)) > 0
}

/** The formats of text settings. */
const FORMATS = {
  'http-url': {
    isValid: hasHttp,
    words: 'an address that begins with http:// or https://, such as https://games.example.org'
  },
  'http-base': {
    isValid: (text) => hasHttp(text) && !/[\s?#]/.test(text),
    words: 'an address that begins with http:// or https:// and has no ? or #, such as https://games.example.org'
  },
  'database-url': {
    isValid: isDatabaseUrl,
    words: 'an address such as postgres://user:password@host:5432/database, with %23 for # and %2F for / in the password'
  },
  'store-url': {
    isValid: (text) => explainStoreUrl(text) === null,
    words: 'an address such as s3://bucket/prefix?endpoint=https://s3.example.org:9000&region=eu-central-1, without credentials; the ' +
      'prefix, the endpoint and the region are optional'
  },
  origin: {
    isValid: (text) => text === '*' || /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]+$/.test(text),
    words: 'a scheme and a host without a path, such as https://app.example.org, or *'
  },
  'connect-origin': {
    isValid: (text) => /^(https?|wss?):\/\/[A-Za-z0-9.*:[\]-]+$/.test(text),
    words: 'a scheme and a host without a path, such as https://api.github.com or wss://*.example.org'
  },
  network: {
    isValid: isNetwork,
    words: 'an IP address or a network, such as 172.30.80.2 or 172.30.80.0/24'
  },
  'host-port': {
    isValid: isHostPort,
    words: 'a host or an IP address with a port, such as 10.0.0.5:8081 or [fd00::5]:8081'
  },
  cron: {
    isValid: isCron,
    words: 'five cron fields (minute, hour, day, month, weekday), such as "0 3 * * *" for 03:00 each day'
  },
  'folder-name': {
    isValid: (text) => /^[^/\\]+$/.test(text) && text !== '.' && text !== '..',
    words: 'the name of one folder, without / and \\'
  },
  'token-prefix': {
    isValid: (text) => /^[a-z0-9]+_$/.test(text),
    words: 'lower-case letters and digits with one _ at the end, such as rmm_'
  }
} as const satisfies Record<string, Format>

export type FormatName = keyof typeof FORMATS

for (const [name, { isValid: fits }] of Object.entries(FORMATS)) FormatRegistry.Set(name, fits)

/** Formats that schemas of plugins and routes use. The server's other validator, Ajv, checks them in the same way. */
const STANDARD_FORMATS = ['uri', 'uuid', 'email'] as const

for (const name of STANDARD_FORMATS) {
  const format = fullFormats[name]
  FormatRegistry.Set(name, (text) => format instanceof RegExp ? format.test(text) : typeof format === 'function' && format(text))
}
FormatRegistry.Set('date-time', (text) => !Number.isNaN(Date.parse(text)))

const isFormatName = (name: unknown): name is FormatName => typeof name === 'string' && name in FORMATS

/** Returns the words for a format; null if no format above has this name. */
export const describeFormat = (name: unknown): string | null => isFormatName(name) ? FORMATS[name].words : null
