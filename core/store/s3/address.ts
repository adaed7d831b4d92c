import { StartError } from '../../errors.ts'

/** The access to a bucket. */
export interface S3Address {
  /** The name of the bucket. */
  bucket: string
  /** The URL of the bucket, without a slash at its end. */
  bucketUrl: string
  /** The beginning of all keys: empty, or names with a slash at the end. */
  prefix: string
  region: string
  access_key_id: string
  secret_access_key: string
  session_token: string | undefined
  /** The address for messages, without credentials. */
  name: string
}

/** The settings of the store, in the names of `config.yml`. */
interface StoreSettings { access_key_id?: string, secret_access_key?: string, session_token?: string }

const DEFAULT_REGION = 'us-east-1'
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
const PARAMETERS = new Set(['endpoint', 'region'])

/** Returns the reason why a text is no address of a store; null for a valid one. */
export function explainStoreUrl (text: string): string | null {
  if (!/^s3:\/\/[^/]/.test(text) || !URL.canParse(text)) return 'it must begin with s3:// and the name of a bucket'
  const { hostname, username, password, port, pathname, searchParams } = new URL(text)
  if (username + password !== '') return 'credentials belong into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY'
  if (port !== '') return 'the port belongs into the endpoint'
  if (!BUCKET.test(hostname)) return `'${hostname}' is no name of a bucket: 3 to 63 lower-case letters, digits, dots and hyphens`
  if (pathname.split('/').some((part) => part === '.' || part === '..')) return 'the prefix must not contain . or ..'
  const unknown = [...searchParams.keys()].find((name) => !PARAMETERS.has(name))
  if (unknown !== undefined) return `it has the parameter '${unknown}'; only endpoint and region are known`
  const endpoint = searchParams.get('endpoint')
  if (endpoint !== null && !(/^https?:\/\/[^/?#\s]+\/?$/.test(endpoint) && URL.canParse(endpoint))) {
    return `the endpoint '${endpoint}' is not http:// or https:// with a host and, if needed, a port`
  }
  return null
}

/** Returns the URL of a bucket. A bucket with dots in its name cannot be part of a host name with a certificate. */
function locateBucket (bucket: string, region: string, endpoint: string | null): string {
  if (endpoint !== null) return `${endpoint.replace(/\/$/, '')}/${bucket}`
  return bucket.includes('.') ? `https://s3.${region}.amazonaws.com/${bucket}` : `https://${bucket}.s3.${region}.amazonaws.com`
}

/** Reads the address of a store. @throws StartError if a credential is missing */
export function readStoreAddress (url: string, settings: StoreSettings): S3Address {
  const { hostname: bucket, pathname, searchParams } = new URL(url)
  const { access_key_id: id, secret_access_key: secret, session_token: token } = settings
  if (id === undefined || secret === undefined) {
    throw new StartError(`The store s3://${bucket} needs credentials. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.`)
  }
  const region = searchParams.get('region') ?? DEFAULT_REGION
  const parts = decodeURIComponent(pathname).split('/').filter((part) => part !== '')
  return {
    bucket,
    bucketUrl: locateBucket(bucket, region, searchParams.get('endpoint')),
    prefix: parts.map((part) => `${part}/`).join(''),
    region,
    access_key_id: id,
    secret_access_key: secret,
    session_token: token,
    name: `s3://${[bucket, ...parts].join('/')}`
  }
}
