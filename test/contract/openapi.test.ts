import { readFileSync } from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Type } from '@sinclair/typebox'
import { Ajv } from 'ajv'
import fastify, { type InjectOptions } from 'fastify'
import t, { type Test } from 'tap'
import { nameSchemas } from '../../core/web/openapi/components.ts'
import { ErrorSchema, bytesOf } from '../../core/typebox.ts'
import { SCOPES } from '../../core/access/scopes.ts'
import { checkStatuses } from '../documented-statuses.ts'
import { type TestApp, buildTestApp, shareTestApp } from '../support.ts'

const fresh = shareTestApp(t)

interface Operation {
  operationId?: string
  tags?: string[]
  description?: string
  security?: Record<string, string[]>[]
  responses?: Record<string, { description: string, content?: Record<string, { schema?: BodySchema }> }>
  requestBody?: { content: Record<string, { schema?: BodySchema }> }
  parameters?: { name: string, in: string, description?: string, schema: NumberSchema }[]
}
interface BodySchema {
  $ref?: string
  type?: string
  pattern?: string
  properties?: Record<string, BodySchema>
  items?: BodySchema
  anyOf?: BodySchema[]
}
interface NumberSchema extends BodySchema { maximum?: number, items?: NumberSchema, anyOf?: NumberSchema[] }
interface Document {
  openapi: string
  servers: { url: string }[]
  tags: { name: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, unknown> }
}
interface Place extends Operation { method: string, path: string, id: string, scopes: string[] }

/** Operations that need no credential. An operation that is added here is open to everyone. */
const PUBLIC = [
  'beginOpenidLogin', 'createInviteLink', 'createSetupPlatforms', 'createToken', 'createUser', 'exchangePairingCode',
  'finishOpenidLogin', 'getConfig', 'getHeartbeat', 'getLiveness', 'getMetadataHeartbeat', 'getPairingStatus', 'getReadiness',
  'getSetupLibrary', 'login', 'loginWithForm', 'logout', 'logoutAlias', 'pollDeviceToken', 'registerUser', 'requestPasswordReset',
  'resetPassword', 'startDeviceAuthorization'
]

async function readDocument ({ app }: TestApp, url = '/openapi.json'): Promise<Document> {
  const reply = await app.inject({ url })
  if (reply.statusCode !== 200) throw new Error(`${url} answered ${reply.statusCode}`)
  return reply.json<Document>()
}

const listOperations = (document: Document): Place[] => Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    ...operation, method, path, id: operation.operationId ?? `${method} ${path}`, scopes: operation.security?.[0]?.session ?? []
  })))

/** Calls an operation with any values in its path, because permissions are checked before them. */
const callOf = ({ method, path }: Place, headers: Record<string, string>): InjectOptions =>
  ({ method: method.toUpperCase(), url: path.replace(/\{\w+\}/g, '1'), headers })

t.test('the document of the whole server is valid OpenAPI 3.1', async (t) => {
  const document = await readDocument(await fresh(t))
  t.match(document.openapi, /^3\.1\./)
  const { valid, errors } = await new Validator().validate({ ...document })
  t.ok(valid, JSON.stringify(errors))
})

t.test('a response with the body null has a schema, one without a body no content', async (t) => {
  const document = await readDocument(await fresh(t))
  const successes = listOperations(document).flatMap(({ id, method, responses = {} }) => Object.entries(responses)
    .filter(([status]) => /^2/.test(status) && method !== 'head').map(([status, { content }]) => ({ id, status, content })))
  const empty = successes.filter(({ status, content }) => content === undefined && status !== '204').map(({ id }) => id)
  t.same(empty.sort(), [
    'addRom', 'addRomManual', 'addRomManualFile', 'addRomScreenshot', 'addRomSoundtrack', 'completeRomUpload',
    'deleteRomFile', 'deleteRomManual', 'deleteRomManualFile', 'deleteRomScreenshot', 'deleteRomSoundtrack',
    'deleteScreenshot', 'refetchRomManual'
  ], 'these answer without a body')
  t.same(successes.filter(({ status, content }) => content !== undefined && status === '204'), [])
  const [deleted] = successes.filter(({ id }) => id === 'deleteCollection')
  t.same(deleted?.content, { 'application/json': { schema: { type: 'null' } } })
})

t.test('every schema of a request or response is a valid JSON schema', async (t) => {
  const document = await readDocument(await fresh(t))
  const schemas = [
    ...Object.entries(document.components.schemas),
    ...listOperations(document).flatMap(({ id, parameters = [], requestBody }): [string, unknown][] => [
      ...parameters.map(({ name, schema }): [string, unknown] => [`${id}: ${name}`, schema]),
      ...Object.entries(requestBody?.content ?? {}).map(([type, { schema }]): [string, unknown] => [`${id}: ${type}`, schema ?? {}])
    ])
  ]
  const ajv = new Ajv({ strict: false })
  const isValid = (schema: unknown) => ajv.validateSchema(schema as object) === true
  t.ok(schemas.length > 400)
  t.same(schemas.filter(([, schema]) => !isValid(schema)).map(([name]) => name), [])
  t.notOk(isValid({ type: 'integer', minimum: 'one' }))
})

t.test('the list of operations changes only on purpose', async (t) => {
  const promised = readFileSync(new URL('operations.txt', import.meta.url), 'utf8').trim().split('\n')
  const served = listOperations(await readDocument(await fresh(t)))
    .map(({ method, path, id }) => `${id} ${method.toUpperCase()} ${path}`).sort()
  t.same(served.filter((operation) => !promised.includes(operation)), [], 'new ones belong into operations.txt')
  t.same(promised.filter((operation) => !served.includes(operation)), [], 'a promised one is gone')
})

t.test('every operation has a unique name, a tag, responses and its security', async (t) => {
  const operations = listOperations(await readDocument(await fresh(t)))
  const ids = operations.map(({ operationId }) => operationId)
  t.equal(new Set(ids).size, ids.length)
  for (const { id, tags, responses, security, description } of operations) {
    t.match(id, /^[a-z][A-Za-z]+$/)
    t.ok((tags ?? []).length > 0, `${id} has a tag`)
    t.ok(Object.keys(responses ?? {}).some((status) => /^[23]/.test(status)), `${id} says what it answers`)
    t.ok(Array.isArray(security), `${id} says who may call it`)
    t.match(description, /Anyone may call this\.$|Scopes: [\w.]+(, (or )?[\w.]+)*\.$/)
  }
})

const listIntegers = (schema: NumberSchema): NumberSchema[] =>
  [schema, ...[schema.items ?? [], schema.anyOf ?? []].flat().flatMap(listIntegers)].filter(({ type }) => type === 'integer')

t.test("every reading operation refuses a number beyond the database's range", async (t) => {
  const testApp = await fresh(t)
  const operations = listOperations(await readDocument(testApp))
  for (const { id, parameters = [] } of operations) {
    for (const { name, schema } of parameters.filter((one) => ['limit', 'offset'].includes(one.name))) {
      for (const { maximum } of listIntegers(schema)) t.type(maximum, 'number', `${id}: ${name}`)
    }
  }
  const beyond = '99999999999999999999'
  for (const { id, path, parameters = [] } of operations.filter(({ method }) => method === 'get')) {
    for (const { name } of parameters.filter((one) => one.in === 'query' && listIntegers(one.schema).length > 0)) {
      const url = `${path.replace(/\{\w+\}/g, '1')}?${name}=${beyond}`
      t.ok((await testApp.app.inject({ url, headers: testApp.admin })).statusCode < 500, `${id}: ${name}`)
    }
  }
})

t.test('every operation refuses NUL in any text of a path or a query', async (t) => {
  const testApp = await fresh(t)
  for (const { id, method, path, parameters = [] } of listOperations(await readDocument(testApp))) {
    for (const { name, in: place } of parameters.filter((one) => ['path', 'query'].includes(one.in))) {
      const filled = place === 'path' ? path.replace(`{${name}}`, 'a%00') : `${path}?${name}=a%00`
      const reply = await testApp.app.inject({
        ...callOf({ id, method, path: filled, scopes: [] }, testApp.admin), headers: testApp.admin
      })
      t.ok(reply.statusCode >= 400 && reply.statusCode < 500, `${id}: ${name} is answered with ${reply.statusCode}`)
    }
  }
})

t.test('the schemas of every plugin are in the document', async (t) => {
  const testApp = await fresh(t)
  const { schemas } = (await readDocument(testApp)).components
  const { definitions } = testApp.app.registry
  t.ok(definitions.length > 0)
  for (const { kind, definition } of definitions) {
    const { key } = definition
    const parts = {
      [`${kind}_${key}_config`]: definition.config,
      [`${key}_metadata`]: 'metadata' in definition ? definition.metadata : undefined,
      [`${kind}_${key}_settings`]: 'settings' in definition ? definition.settings : undefined
    }
    for (const [name, schema] of Object.entries(parts)) {
      if (schema !== undefined) t.match(schemas[name], { type: 'object' }, name)
    }
  }
})

/** Lists objects with fields of their own inside of `value`, each by its location. */
function listNameless (value: unknown, place: string): string[] {
  if (Array.isArray(value)) return value.flatMap((each, index) => listNameless(each, `${place}/${index}`))
  if (typeof value !== 'object' || value === null) return []
  const isNameless = 'properties' in value && Object.keys(value.properties ?? {}).length > 1
  return isNameless ? [place] : Object.entries(value).flatMap(([key, each]) => listNameless(each, `${place}/${key}`))
}

t.test("every object in a request or response has a schema name for clients' types", async (t) => {
  const { paths, components } = await readDocument(await fresh(t))
  t.same(listNameless(paths, ''), [])
  t.same(Object.keys(components.schemas).filter((name) => /_\d$/.test(name)), [], 'no two of our own have the same name')
  for (const [name, schema] of Object.entries(components.schemas)) {
    t.same(listNameless(Object.values(schema ?? {}), name), [])
  }
  for (const name of ['SimpleRom', 'Platform', 'Save', 'Device', 'User', 'Negotiate', 'NegotiateRom', 'igdb_metadata_age_rating']) t.ok(name in components.schemas, name)
  t.match(JSON.stringify(components.schemas.SimpleRom), /#\/components\/schemas\/igdb_metadata/)
})

t.test('every response, parameter and group has a description', async (t) => {
  const document = await readDocument(await fresh(t))
  for (const { id, parameters = [], responses = {} } of listOperations(document)) {
    for (const { name, description = '' } of parameters) t.not(description, '', `${id}: ${name}`)
    for (const [status, { description }] of Object.entries(responses)) {
      t.notMatch(description, /^$|Default Response/, `${id}: ${status}`)
    }
  }
  const used = new Set(listOperations(document).flatMap(({ tags = [] }) => tags))
  t.same([...used].sort(), document.tags.map(({ name }) => name).sort())
})

t.test('uploads and downloads are described as files, with form parts and HEAD', async (t) => {
  const { paths, components } = await readDocument(await fresh(t))
  t.same(Object.keys(paths['/api/saves']?.post?.requestBody?.content ?? {}), ['multipart/form-data'])
  t.match(components.schemas.SaveForm, { required: ['saveFile'], properties: { saveFile: { format: 'binary' }, screenshotFile: {} } })
  t.match(components.schemas.EditRomForm, { properties: { artwork: { format: 'binary' }, name: { type: 'string' } } })
  const { get, head } = paths['/api/roms/{id}/content/{file_name}'] ?? {}
  t.match(get?.responses?.['206'], { content: { 'application/octet-stream': { schema: { format: 'binary' } } } })
  t.match(head, { operationId: 'headRomContent', security: get?.security })
  const { parameters = [], responses = {} } = get as {
    parameters?: { name: string, in: string }[]
    responses?: Record<string, object>
  }
  t.same(parameters.filter((one) => one.in === 'header').map(({ name }) => name), ['Range', 'If-Range', 'If-None-Match'])
  t.match(responses['206'], { headers: { ETag: {}, 'Content-Range': {} } })
  t.match(responses['416'], { headers: { 'Content-Range': {} } })
  t.notMatch(JSON.stringify(head?.responses?.['200']), 'content')
})

t.test('files are described with the media types that they are sent with', async (t) => {
  const { paths } = await readDocument(await fresh(t))
  const typesOf = (path: string, status = '200') => {
    const { content = {} } = paths[path]?.get?.responses?.[status] as { content?: object }
    return Object.keys(content)
  }
  t.same(typesOf('/api/roms/download', '206'), ['application/zip'])
  t.same(typesOf('/api/roms/{id}/content/{file_name}'), ['application/octet-stream', 'application/zip'])
  t.same(typesOf('/api/roms/{file_id}/files/content/{file_name}'),
    ['application/octet-stream', 'image/*', 'video/*', 'audio/*', 'application/pdf', 'text/markdown'])
  t.same(typesOf('/api/saves/{id}/content'), ['application/octet-stream'])
  t.same(typesOf('/api/screenshots/{id}/content'), ['application/octet-stream', 'image/*'])
  t.same(typesOf('/api/search/picture'), ['image/webp'])
})

t.test('client generators get wide integers, optional properties and unique names', async (t) => {
  const { components: { schemas } } = await readDocument(await fresh(t))
  const fieldsOf = (name: string) => (schemas[name] as { properties: Record<string, object> }).properties
  t.match(fieldsOf('SimpleRom').fs_size_bytes, { type: 'integer', format: 'int64' })
  t.match(fieldsOf('PlaySession').duration_ms, { type: 'integer', format: 'int64' })
  t.notOk('format' in (fieldsOf('SimpleRom').id ?? {}), 'ids have 32 bits')
  t.match(fieldsOf('DeviceSave').rom_id, { anyOf: [{ type: 'integer', maximum: Number }, { type: 'string', pattern: String }] })
  t.notMatch(JSON.stringify(schemas), /"type":\[/, 'what has several types has one form')

  const { own_only: ownOnly = {} } = fieldsOf('GivenGrant')
  t.match(ownOnly, { description: "Applies only to the user's own objects. Default: false" })
  t.notOk('default' in ownOnly, 'generators take a property with a default for one that is always there')

  const texts = Object.values(schemas).map((schema) => JSON.stringify({ ...schema as object, title: '' }))
  t.same(texts.filter((text, i) => texts.indexOf(text) !== i), [])
})

t.test('a status that the document does not name fails its test', async (t) => {
  const app = fastify()
  await checkStatuses(app)
  const schema: object = { operationId: 'addThing', response: { 200: Type.Null() } }
  app.post('/things', { schema, config: { public: true, csrfExempt: true } },
    async ({ headers }, reply) => reply.code(Number(headers.wanted)).send({ detail: headers.wanted === '422' ? [] : 'x' }))
  const post = async (wanted: string) => await app.inject({ method: 'POST', url: '/things', headers: { wanted } })
  for (const status of [400, 409, 413, 415, 422, 429, 503]) t.equal((await post(String(status))).statusCode, status)
  const undocumented = await post('410')
  t.equal(undocumented.statusCode, 500)
  t.match(undocumented.json(), { detail: /POST \/things answered 410.*add it to schema\.response/ })
  t.equal((await post('403')).statusCode, 500, 'nobody is refused here')
})

t.test('a media type or a detail that the document does not name fails its test', async (t) => {
  const app = fastify()
  await checkStatuses(app)
  const picture: object = { operationId: 'getPicture', response: { 200: bytesOf('image/*', 'text/plain') } }
  app.get('/picture', { schema: picture, config: { public: true } },
    async ({ headers }, reply) => reply.type(String(headers.wanted)).send(Buffer.from('x')))
  const refusal: object = { operationId: 'getThing', response: { 200: Type.Null(), 400: ErrorSchema } }
  app.get('/thing', { schema: refusal, config: { public: true } }, async ({ headers }, reply) =>
    reply.code(400).type('application/json').serializer(JSON.stringify)
      .send({ detail: headers.wanted === 'text' ? 'x' : { error: 'x' } }))
  const read = (url: string) => async (wanted: string) => (await app.inject({ url, headers: { wanted } })).statusCode
  t.same(await Promise.all(['image/png', 'text/plain; charset=utf-8', 'video/mp4'].map(read('/picture'))), [200, 200, 500])
  t.same(await Promise.all(['text', 'object'].map(read('/thing'))), [400, 500])
})

t.test('a property with a default is optional', async (t) => {
  const { paths } = await readDocument(await fresh(t))
  const limit = paths['/api/roms']?.get?.parameters?.find(({ name }) => name === 'limit')
  t.match(limit, { required: false, schema: { default: 50 } })
})

t.test('different schemas of one name get different names, whoever defines them', (t) => {
  const text = { type: 'string', title: 'Name' }
  t.same(nameSchemas({ '/a': { schema: text }, '/b': { schema: text } }, {}), {
    paths: { '/a': { schema: { $ref: '#/components/schemas/Name' } }, '/b': { schema: { $ref: '#/components/schemas/Name' } } },
    schemas: { Name: text }
  })
  const parts = { type: 'object', properties: { a: text, b: text } }
  t.same(Object.keys(nameSchemas({ '/a': { type: 'object', title: 'Whole', properties: { most_parts: { type: 'array', items: parts } } } }, {}).schemas),
    ['Name', 'WholeMostPart', 'Whole'])
  t.match(nameSchemas({ '/a': { schema: text }, '/b': { schema: { ...text, maxLength: 5 } } }, {}), {
    paths: { '/b': { schema: { $ref: '#/components/schemas/Name_2' } } }, schemas: { Name: text, Name_2: { maxLength: 5 } }
  })
  t.end()
})

t.test('a secret value is marked as secret in the document', async (t) => {
  const { schemas } = (await readDocument(await fresh(t))).components
  t.match(schemas.provider_igdb_config, { properties: { clientSecret: { writeOnly: true } } })
})

t.test('anonymous callers may call only public operations', async (t) => {
  const testApp = await fresh(t)
  const operations = listOperations(await readDocument(testApp))
  t.same(operations.filter(({ security }) => security?.length === 0).map(({ id }) => id).sort(), PUBLIC)

  const csrf = (await testApp.app.inject({ url: '/api/heartbeat' })).cookies.find(({ name }) => name === 'svc_csrftoken')
  const value = csrf?.value ?? ''
  for (const operation of operations.filter(({ id }) => !PUBLIC.includes(id))) {
    const headers = { cookie: `svc_csrftoken=${value}`, 'x-csrftoken': value }
    const reply = await testApp.app.inject(callOf(operation, headers))
    t.equal(reply.statusCode, 401, `${operation.id} by a stranger`)
  }
})

/** Returns a function that signs in with scopes, once for each list. An OAuth2 sign-in has no limit of their number. */
function createSignIns ({ app }: TestApp) {
  const signIns = new Map<string, Promise<Record<string, string>>>()
  async function signIn (scope: string): Promise<Record<string, string>> {
    const reply = await app.inject({
      method: 'POST', url: '/api/token', headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ username: 'admin', password: 'a password', scope }).toString()
    })
    return { authorization: `Bearer ${reply.json<{ access_token: string }>().access_token}` }
  }
  return (scopes: readonly string[]) => {
    const scope = scopes.toSorted().join(' ')
    const headers = signIns.get(scope) ?? signIn(scope)
    signIns.set(scope, headers)
    return headers
  }
}

/** Lists the alternative lists of scopes with which an operation may be called. */
const listAlternatives = ({ security = [] }: Place): string[][] =>
  [...new Set(security.flatMap((one) => Object.values(one)).map((scopes) => scopes.join(' ')))].map((scopes) => scopes.split(' '))

/** Lists the smallest sets of scopes without which no alternative is complete: one scope of each. */
const listNeeds = (alternatives: readonly string[][]): string[][] =>
  alternatives.reduce<string[][]>((needs, list) => needs.flatMap((need) =>
    list.some((scope) => need.includes(scope)) ? [need] : list.map((scope) => [...need, scope])), [[]])

/** Calls an operation with a body that cannot be read, so that nothing is changed even by a caller with its scopes. */
const brokenCallOf = (place: Place, headers: Record<string, string>): InjectOptions => ['get', 'head'].includes(place.method)
  ? callOf(place, headers)
  : { ...callOf(place, { ...headers, 'content-type': 'application/json' }), payload: '{' }

t.test('every operation needs each of its scopes, whatever else is wrong', async (t) => {
  const testApp = await fresh(t)
  const signIn = createSignIns(testApp)
  for (const operation of listOperations(await readDocument(testApp)).filter(({ scopes }) => scopes.length > 0)) {
    for (const need of listNeeds(listAlternatives(operation))) {
      const headers = await signIn(SCOPES.filter((scope) => !need.includes(scope)))
      const reply = await testApp.app.inject(brokenCallOf(operation, headers))
      t.equal(reply.statusCode, 403, `${operation.id} without ${need.join(', ')}`)
      t.match(reply.headers['www-authenticate'], 'error="insufficient_scope", scope="', operation.id)
    }
  }
})

/** Operations that refuse a caller with these scopes for another reason, or wait for a scan worker. */
const NOT_CALLED = new Set(['deleteClientToken me.read', 'listAppriseServices me.read', 'searchCovers roms.read'])

t.test('every operation needs only its scopes', async (t) => {
  const testApp = await fresh(t)
  const signIn = createSignIns(testApp)
  for (const operation of listOperations(await readDocument(testApp)).filter(({ scopes }) => scopes.length > 0)) {
    const { id, description = '' } = operation
    if (description.includes('Not for client tokens')) continue
    for (const scopes of listAlternatives(operation)) {
      if (NOT_CALLED.has(`${id} ${scopes.join(' ')}`)) continue
      const headers = await signIn(description.includes('Administrators only') ? [...scopes, 'users.write'] : scopes)
      const reply = await testApp.app.inject(brokenCallOf(operation, headers))
      t.notOk([401, 403].includes(reply.statusCode), `${id} with ${scopes.join(', ')}: ${reply.body.slice(0, 100)}`)
    }
  }
})

t.test('the document is the same at both addresses', async (t) => {
  const testApp = await fresh(t)
  t.same(await readDocument(testApp, '/api/openapi.json'), await readDocument(testApp))
})

/** Lists the addresses that a page loads by itself. */
const listAssets = (html: string) => [...html.matchAll(/<(?:script|link|img)\b[^>]*?(?:src|href)="([^"]+)"/g)].map(([, url]) => url ?? '')

async function checkPage (t: Test, { app }: TestApp, path: string): Promise<void> {
  const page = await app.inject({ url: path })
  t.equal(page.statusCode, 200, path)
  const assets = listAssets(page.body)
  t.ok(assets.some((url) => url.endsWith('.js')), `${path} loads its script`)
  t.match(page.body, '<title>svc API</title>')
  t.match(page.headers['content-security-policy'], /default-src 'self'/)
  t.notMatch(page.headers['content-security-policy'], /https?:/)
  for (const url of assets) {
    const at = new URL(url, `http://here.example${path}`)
    t.equal(at.host, 'here.example', `${url} is our own`)
    const asset = await app.inject({ url: at.pathname })
    t.equal(asset.statusCode, 200, at.pathname)
    t.notMatch(asset.body, 'cdn.redoc.ly', `${url} shows nobody else's logo`)
    if (/initializer|start/.test(url)) t.notMatch(asset.body.replace(/^ *\/\/.*$/gm, ''), /https?:\/\//)
    if (url.endsWith('.css')) t.notMatch(asset.body, /url\(["']?https?:/)
  }
}

for (const [name, prefix, env] of [
  ['at the root', '', {}], ['under a path', '/games', { SVC_BASE_URL: 'https://home.example/games' }]
] as const) {
  t.test(`the documentation pages load only files of this server, ${name}`, async (t) => {
    const testApp = await buildTestApp(t, { env: { ...env } })
    for (const path of ['/api/docs', '/api/docs/', '/api/redoc']) await checkPage(t, testApp, `${prefix}${path}`)
    const document = await readDocument(testApp, `${prefix}/openapi.json`)
    t.equal(document.servers[0]?.url, prefix || '/')
    t.same(await readDocument(testApp, `${prefix}/api/openapi.json`), document)
    t.same(await readDocument(testApp, `${prefix}/api/docs/json`), document, 'what Swagger UI draws')
    const start = await testApp.app.inject({ url: `${prefix}/api/redoc/start.js` })
    t.match(start.body, `'${prefix}/openapi.json'`)
    const first = await testApp.app.inject({ url: `${prefix}/` })
    t.equal(first.statusCode, 200)
    t.match(first.json(), { documents: { pages: `${prefix}/api/docs` } })
  })
}

/** Names that one person sets and other people, or approval pages, see. */
const NAME_LIKE = /^(?:name|title|label|client|client_version|hostname|slot|\w+_name)$/
/**
 * Exceptions: files have the names of their ROMs, and usernames have a restricted alphabet. The slots that a device
 * sends are compared and not stored.
 */
const NAMED_OTHERWISE = new Set(['file_name', 'output_file_name', 'fs_name', 'username', 'task_name'])
const KEEPS_NO_NAMES = new Set(['negotiateSync'])

t.test('names from users cannot change the text direction around them', async (t) => {
  const document = await readDocument(await fresh(t))
  const seen: string[] = []
  const unsafe: string[] = []

  function look (place: string, name: string, given: BodySchema): void {
    const named = given.$ref?.split('/').at(-1)
    const schema = named === undefined ? given : document.components.schemas[named] as BodySchema
    if (schema.type === 'string' && NAME_LIKE.test(name) && !NAMED_OTHERWISE.has(name)) {
      seen.push(name)
      if (schema.pattern === undefined || new RegExp(schema.pattern, 'u').test('a\u202eb')) unsafe.push(`${place}: ${name}`)
    }
    for (const one of schema.anyOf ?? []) look(place, name, one)
    if (schema.items !== undefined) look(place, name, schema.items)
    for (const [key, one] of Object.entries(schema.properties ?? {})) look(place, key, one)
  }

  for (const { id, method, requestBody, parameters = [] } of listOperations(document)) {
    if (KEEPS_NO_NAMES.has(id)) continue
    for (const { schema } of Object.values(requestBody?.content ?? {})) look(id, '', schema ?? {})
    if (method !== 'get') for (const { name, schema } of parameters) look(id, name, schema)
  }
  t.same(unsafe, [])
  t.ok(['title', 'device_name', 'slot', 'name', 'hostname'].every((name) => seen.includes(name)), seen.join())
})
