import { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Test } from 'tap'

/** An object of the server. */
interface S3Object { content: Buffer, etag: string, at: Date }
interface Upload { key: string, at: Date, parts: Map<number, Buffer> }

/** What the server does with a request in place of the right answer; null answers it rightly. */
export type Fault = (request: { method: string, key: string, query: URLSearchParams }) =>
  { status: number, code: string } | 'cut' | 'cut-body' | 'hang' | 'lose-answer' | null

export const CREDENTIALS = { id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
const REGION = 'eu-test-1'
const BUCKET = 'games'
const PAGE = 3

const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest()
const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')
const encode = (value: string) => encodeURIComponent(value).replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
const escape = (value: string) => value.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/**
 * Checks the signature of a request by version 4 of AWS's method, from the request as it arrived:
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
 *
 * @returns the code of the refusal; null for a right signature
 */
function findSignatureProblem ({ method = '', url = '', headers }: IncomingMessage, body: Buffer): string | null {
  const [, credential = '', signed = '', signature = ''] =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(headers.authorization ?? '') ?? []
  const [id, day = '', region = ''] = credential.split('/')
  if (id !== CREDENTIALS.id) return 'InvalidAccessKeyId'
  if (region !== REGION) return 'AuthorizationHeaderMalformed'
  const names = signed.split(';')
  const unsigned = Object.keys(headers).filter((name) => name.startsWith('x-amz-') && !names.includes(name))
  if (!names.includes('host') || unsigned.length > 0) return 'AccessDenied'
  const date = String(headers['x-amz-date'])
  const at = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
  if (!(Math.abs(at - Date.now()) < 15 * 60_000)) return 'RequestTimeTooSkewed'
  const contentHash = String(headers['x-amz-content-sha256'])
  if (contentHash !== sha256(body)) return 'XAmzContentSHA256Mismatch'
  const { pathname, searchParams } = new URL(url, 'http://localhost')
  const search = [...searchParams].map(([name, value]) => `${encode(name)}=${encode(value)}`).sort().join('&')
  const path = pathname.split('/').map((part) => encode(decodeURIComponent(part))).join('/')
  const lines = names.map((name) => `${name}:${String(headers[name]).trim().replaceAll(/\s+/g, ' ')}\n`).join('')
  const canonical = [method, path, search, lines, signed, contentHash].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const key = hmac(hmac(hmac(hmac(`AWS4${CREDENTIALS.secret}`, day), region), 's3'), 'aws4_request')
  const expected = hmac(key, ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n'))
  return timingSafeEqual(expected, Buffer.from(signature, 'hex')) ? null : 'SignatureDoesNotMatch'
}

/** The state of the server, which tests read and change. */
export interface S3Server {
  url: string
  objects: Map<string, S3Object>
  uploads: Map<string, Upload>
  /** Sets the fault of the next requests. */
  fail (fault: Fault): void
  /** Requests by method, since the start. */
  counts: Map<string, number>
  /** True for a server that encodes no keys, ignores If-Match, and cannot list unfinished uploads. */
  isPoor: boolean
}

interface Exchange { request: IncomingMessage, response: ServerResponse, query: URLSearchParams, body: Buffer }

const etagOf = (content: Buffer) => `"${createHash('md5').update(content).digest('hex')}"`

class Refusal extends Error {
  readonly status: number
  readonly code: string

  constructor (status: number, code: string) {
    super(code)
    this.status = status
    this.code = code
  }
}

/** Starts a server with one bucket that speaks as much of S3 as a store needs, and checks every signature. */
export async function startS3Server (t: Pick<Test, 'teardown'>): Promise<S3Server> {
  const objects = new Map<string, S3Object>()
  const uploads = new Map<string, Upload>()
  const counts = new Map<string, number>()
  let fault: Fault = () => null
  const state = { isPoor: false }

  const store = (key: string, content: Buffer, etag = etagOf(content)) => {
    objects.set(key, { content, etag, at: new Date() })
    return etag
  }

  function find (key: string): S3Object {
    const found = objects.get(key)
    if (found === undefined) throw new Refusal(404, 'NoSuchKey')
    return found
  }

  function findUpload (query: URLSearchParams): Upload {
    const found = uploads.get(query.get('uploadId') ?? '')
    if (found === undefined) throw new Refusal(404, 'NoSuchUpload')
    return found
  }

  function listObjects (query: URLSearchParams): string {
    const prefix = query.get('prefix') ?? ''
    const after = query.get('continuation-token') ?? ''
    const delimiter = query.get('delimiter')
    const group = (key: string) => {
      const end = delimiter === null ? -1 : key.indexOf(delimiter, prefix.length)
      return end === -1 ? key : key.slice(0, end + 1)
    }
    const found = [...objects.keys()].filter((key) => key.startsWith(prefix)).map(group)
    const keys = [...new Set(found)].filter((key) => key > after).sort()
    const page = keys.slice(0, PAGE)
    const rest = keys.length > PAGE
    const entries = page.map((key) => {
      const encoded = encodeURIComponent(key).replaceAll('%20', '+').replaceAll('%2F', '/')
      const name = state.isPoor ? escape(key) : encoded
      if (!objects.has(key)) return `<CommonPrefixes><Prefix>${name}</Prefix></CommonPrefixes>`
      const { content, at, etag } = find(key)
      return `<Contents><Key>${name}</Key><LastModified>${at.toISOString()}</LastModified><ETag>${escape(etag)}</ETag>` +
        `<Size>${content.length}</Size></Contents>`
    })
    const encoding = state.isPoor ? '' : '<EncodingType>url</EncodingType>'
    return `<ListBucketResult><Name>${BUCKET}</Name>${encoding}<IsTruncated>${rest}</IsTruncated>${entries.join('')}` +
      `${rest ? `<NextContinuationToken>${escape(page.at(-1) ?? '')}</NextContinuationToken>` : ''}</ListBucketResult>`
  }

  function listUploads (): string {
    if (state.isPoor) throw new Refusal(501, 'NotImplemented')
    const entries = [...uploads].map(([id, { key, at }]) =>
      `<Upload><Key>${escape(key)}</Key><UploadId>${id}</UploadId><Initiated>${at.toISOString()}</Initiated></Upload>`)
    return `<ListMultipartUploadsResult>${entries.join('')}</ListMultipartUploadsResult>`
  }

  function complete (key: string, query: URLSearchParams, xml: string): string {
    const upload = findUpload(query)
    const wanted = [...xml.matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>(.*?)<\/ETag>/g)].map(([, number, tag]) => {
      const part = upload.parts.get(Number(number))
      if (part === undefined || (tag ?? '').replaceAll('&#34;', '"') !== etagOf(part)) throw new Refusal(400, 'InvalidPart')
      return part
    })
    if (wanted.slice(0, -1).some((part) => part.length < 5 * 1024 ** 2)) throw new Refusal(400, 'EntityTooSmall')
    const etag = store(key, Buffer.concat(wanted), `"${randomUUID()}-${wanted.length}"`)
    uploads.delete(query.get('uploadId') ?? '')
    return `<?xml version="1.0"?>\n<CompleteMultipartUploadResult><ETag>${escape(etag)}</ETag></CompleteMultipartUploadResult>`
  }

  function put (key: string, { request, query, body, response }: Exchange): string {
    const source = request.headers['x-amz-copy-source']
    if (query.has('uploadId')) {
      findUpload(query).parts.set(Number(query.get('partNumber')), body)
      response.setHeader('etag', etagOf(body))
      return ''
    }
    const content = source === undefined ? body : find(decodeURIComponent(String(source)).replace(`/${BUCKET}/`, '')).content
    const etag = store(key, content)
    response.setHeader('etag', etag)
    return source === undefined ? '' : `<CopyObjectResult><ETag>${escape(etag)}</ETag></CopyObjectResult>`
  }

  function sendObject (key: string, { request: { method, headers }, response }: Exchange, isCut: boolean): void {
    const { content, etag, at } = find(key)
    const isOther = headers['if-match'] !== undefined && headers['if-match'] !== etag
    if (isOther && !state.isPoor) throw new Refusal(412, 'PreconditionFailed')
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? []
    const part = first === undefined ? content : content.subarray(Number(first), Number(last) + 1)
    response.writeHead(first === undefined ? 200 : 206,
      { etag, 'last-modified': at.toUTCString(), 'content-length': part.length })
    if (method === 'HEAD') response.end()
    else if (!isCut) response.end(part)
    else response.write(part.subarray(0, Math.ceil(part.length / 2)), () => { response.destroy() })
  }

  function answer (request: IncomingMessage, response: ServerResponse, body: Buffer, isCut: boolean): string | null {
    const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://localhost')
    const [, bucket, ...parts] = pathname.split('/').map(decodeURIComponent)
    const key = parts.join('/')
    const problem = findSignatureProblem(request, body)
    if (problem !== null) throw new Refusal(403, problem)
    if (bucket !== BUCKET) throw new Refusal(404, 'NoSuchBucket')
    if (key === '') return query.has('uploads') ? listUploads() : listObjects(query)
    if (request.method === 'PUT') return put(key, { request, query, body, response })
    if (request.method === 'POST' && query.has('uploads')) {
      const id = randomUUID()
      uploads.set(id, { key, at: new Date(), parts: new Map() })
      return `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`
    }
    if (request.method === 'POST') return complete(key, query, body.toString())
    if (request.method === 'DELETE') {
      if (query.has('uploadId')) uploads.delete(query.get('uploadId') ?? '')
      else objects.delete(key)
      response.statusCode = 204
      return ''
    }
    sendObject(key, { request, response, query, body }, isCut)
    return null
  }

  const server = createServer((request, response) => {
    const { method = '' } = request
    const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://localhost')
    counts.set(method, (counts.get(method) ?? 0) + 1)
    void buffer(request).then((body) => {
      const found = fault({ method, key: decodeURIComponent(pathname).replace(`/${BUCKET}/`, ''), query })
      if (found === 'hang') return
      if (found === 'cut') return request.socket.destroy()
      if (found !== null && typeof found === 'object') throw new Refusal(found.status, found.code)
      const xml = answer(request, response, body, found === 'cut-body')
      if (found === 'lose-answer') request.socket.destroy()
      else if (xml !== null) response.end(xml)
    }).catch((err: unknown) => {
      const { status, code } = err instanceof Refusal ? err : new Refusal(500, 'InternalError')
      response.writeHead(status, { 'content-type': 'application/xml' })
      response.end(method === 'HEAD' ? '' : `<?xml version="1.0"?><Error><Code>${code}</Code><Message>as the test wants</Message></Error>`)
    })
  })
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return Object.assign(state, {
    url: `s3://${BUCKET}/data?endpoint=http://127.0.0.1:${port}&region=${REGION}`,
    objects,
    uploads,
    counts,
    fail (next: Fault) { fault = next }
  })
}
