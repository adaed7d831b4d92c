import fc, { type Arbitrary } from 'fast-check'

/** The keywords of JSON schema that the document uses. */
export interface Schema {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  minItems?: number
  maxItems?: number
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  pattern?: string
  format?: string
  contentMediaType?: string
}

/** A placeholder for an id of an earlier response, chosen when the request is sent. */
export class Known {
  readonly kind: string
  readonly pick: number

  constructor (kind: string, pick: number) {
    this.kind = kind
    this.pick = pick
  }
}

/** A placeholder for a file of a form. */
export class Upload {
  readonly name: string
  readonly content: Buffer

  constructor (name: string, content: Buffer) {
    this.name = name
    this.content = content
  }
}

const NESTED_LEVELS = 1_000
const ITEMS_MAX = 3
const MATCHES = 30
const GREATEST_INTEGER = 2 ** 31 - 1
/** Several words for one kind of object. */
const SAME_THING: Record<string, string> = {
  request: 'install', audit: 'event', raw: 'token', group: 'group', file: 'file', pair: 'token', entity: 'rom'
}

/** Returns the kind of ids in a parameter, key or path: `rom_ids` and `roms` are ROMs. */
export function kindOf (name: string): string {
  const word = name.replace(/_?ids?$/, '').split(/[-_/]/).at(-1)?.replace(/s$/, '') ?? ''
  return SAME_THING[word] ?? word
}

export const isIdName = (name: string): boolean => /(^|_)ids?$/.test(name)

const known = (name: string): Arbitrary<unknown> => fc.nat(999).map((pick) => new Known(kindOf(name), pick))

/** Only addresses of this machine. Those that are not refused lead to a closed port. */
const ADDRESSES = ['http://127.0.0.1:9/hook', 'http://localhost/', 'http://[::1]:9/', 'http://[::ffff:127.0.0.1]/', 'http://2130706433/',
  'https://192.0.2.1/', 'http://169.254.169.254/latest', 'file:///etc/passwd', 'javascript:alert(1)', 'http://', '//evil.invalid']
const FILE_NAMES = ['Game 1.srm', 'Game 2.srm', 'Game 1 [2024-01-02_03-04-05-678].srm', 'a.state', 'x.png', '../x', 'ü .srm', '日本.srm']
const TEXTS: Record<string, readonly string[]> = {
  url: ADDRESSES,
  file: FILE_NAMES,
  file_name: FILE_NAMES,
  slot: ['main', 'auto', ''],
  emulator: ['snes9x', 'mgba', '..'],
  link: ['/rom/1', '//evil.invalid', '/\\evil.invalid', 'javascript:alert(1)'],
  role: ['user', 'admin', 'viewer'],
  password: ['long enough for one', 'short'],
  email: ['', 'one@home.invalid', 'two@home.invalid', 'a@b\r\nBcc: c@d'],
  hostname: ['deck', 'phone'],
  type: ['webhook', 'email', 'apprise', 'quick', 'unknown'],
  grant_type: ['password', 'refresh_token', 'client_credentials'],
  task_name: ['cleanup_orphaned_resources', 'cleanup_missing_roms', 'cleanup_assets', 'scan_library', 'unknown'],
  source: ['igdb', 'hasheous', 'gamelist', 'unknown']
}

const FOREIGN_TEXTS = ['Ünï', '日本語', '🎮', 'e\u0301', '\u200b', '\ufeffx']

const times = fc.date({ min: new Date('1970-01-01'), max: new Date('2099-12-31'), noInvalidDate: true }).map((date) => date.toISOString())
const nearTimes = fc.integer({ min: 0, max: 40 }).map((days) => new Date(Date.UTC(2026, 9, 1 + days)).toISOString())

/** Chooses the common value `weight` times as often as the rare one. */
export const mostly = <T>(weight: number, common: Arbitrary<T>, rare: Arbitrary<T>): Arbitrary<T> =>
  fc.oneof({ weight, arbitrary: common }, { weight: 1, arbitrary: rare })

const matches = new Map<string, Arbitrary<string>>()

/** Generates some texts that match a pattern and reuses them, because generation would take most of a run. */
function matching (pattern: string, maxLength: number): Arbitrary<string> {
  const kept = matches.get(pattern)
  if (kept !== undefined) return kept
  const some = fc.sample(fc.stringMatching(new RegExp(pattern)), { seed: 1, numRuns: MATCHES })
  const made = fc.constantFrom(...some.filter((text) => text.length <= maxLength), '')
  matches.set(pattern, made)
  return made
}

function texts (schema: Schema, name: string): Arbitrary<string> {
  const { pattern, minLength = 0, maxLength = 40 } = schema
  if (schema.format === 'date-time' || /(time|_at|_after|_before|mtime|start|end)$/.test(name)) return fc.oneof(times, nearTimes)
  const named = TEXTS[name]
  const lengths = { minLength, maxLength: Math.max(minLength, Math.min(maxLength, 40)) }
  // A pattern that only forbids characters hardly limits the content.
  const free = pattern === undefined || pattern.startsWith('^[^')
    ? mostly(9, fc.string(lengths), fc.constantFrom(...FOREIGN_TEXTS))
    : matching(pattern, schema.maxLength ?? Infinity)
  return named === undefined ? free : mostly(4, fc.constantFrom(...named), free)
}

function integers ({ minimum = 0, maximum = GREATEST_INTEGER }: Schema): Arbitrary<number> {
  const least = Math.max(minimum, -GREATEST_INTEGER)
  const most = Math.min(maximum, Number.MAX_SAFE_INTEGER)
  return fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: least, max: Math.min(most, least + 60) }) },
    fc.integer({ min: least, max: most }), fc.constantFrom(least, most))
}

const contents = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  fc.constantFrom('one', 'two', 'three', '<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>', 'GIF89a', '').map((text) => Buffer.from(text)),
  fc.constant(Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')),
  // A picture with a declared size of 60,000 × 60,000 pixels.
  fc.constant(Buffer.from('iVBORw0KGgoAAAANSUhEUgAA6mAAAOpgCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')))

export const uploads: Arbitrary<Upload> = fc
  .tuple(mostly(4, fc.constantFrom(...FILE_NAMES), fc.string({ maxLength: 300 })), contents)
  .map(([name, content]) => new Upload(name, content))

/** Generates values that a schema accepts, or nearly. The names of keys suggest their meaning. */
export function valid (schema: Schema, name = ''): Arbitrary<unknown> {
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((one) => valid(one, name)))
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.contentMediaType !== undefined) return uploads
  if (Array.isArray(schema.type)) return fc.oneof(...schema.type.map((type) => valid({ ...schema, type }, name)))
  const isId = isIdName(name) || name === 'roms' || name === 'platforms'
  switch (schema.type) {
    case 'object': return objects(schema)
    case 'array': return fc.array(valid(schema.items ?? {}, name), {
      minLength: schema.minItems ?? 0,
      maxLength: Math.max(schema.minItems ?? 0, Math.min(schema.maxItems ?? ITEMS_MAX, ITEMS_MAX))
    })
    case 'integer': return isId ? mostly(9, known(name), integers(schema)) : integers(schema)
    case 'number': return fc.double({ min: schema.minimum ?? -1e9, max: schema.maximum ?? 1e9, noNaN: true })
    case 'boolean': return fc.boolean()
    case 'null': return fc.constant(null)
    case 'string': return isId || /code|token/.test(name)
      ? mostly(6, known(name), texts(schema, name))
      : texts(schema, name)
    default: return fc.jsonValue({ maxDepth: 2 })
  }
}

function objects ({ properties = {}, required = [] }: Schema): Arbitrary<unknown> {
  const model = Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, valid(value, key)]))
  return fc.record(model, { requiredKeys: required.filter((key) => key in properties) })
}

const nested = (levels: number): unknown => {
  let value: unknown = []
  for (let level = 0; level < levels; level++) value = [value]
  return value
}

/** Values that break code without input checks. */
export const junk: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, -1, 0, 1.5, -0, 1e308, 2 ** 31, 2 ** 53, '', ' ', '0', '\0', 'a\0b', '\ud800', '\u202Eevil', '../../etc/passwd',
    "'; drop table users; --", '%00', '{}', 'NaN', 'Infinity', '1e999', '9'.repeat(40), 'a'.repeat(70_000), [], {}, [[]], [null],
    '2026-13-45T99:99:99Z', '+275760-09-13T00:00:00.001Z', '0000-00-00T00:00:00Z', '\r\nX-Injected: 1'),
  fc.constant(JSON.parse('{"__proto__":{"is_admin":true},"constructor":{"prototype":{"is_admin":true}}}') as unknown),
  fc.constant(Array.from({ length: 3_000 }, () => 1)),
  fc.constantFrom(40, NESTED_LEVELS).map(nested),
  fc.jsonValue({ maxDepth: 3 }), fc.string({ maxLength: 50 }))

type Step = string | number

const isBranch = (value: unknown): value is Record<Step, unknown> =>
  typeof value === 'object' && value !== null && !(value instanceof Known) && !(value instanceof Upload)

function listPlaces (value: unknown, at: Step[] = []): Step[][] {
  if (!isBranch(value)) return [at]
  const inner = Object.entries(value).flatMap(([key, one]) => listPlaces(one, [...at, key]))
  return [at, ...inner]
}

/** Replaces the value at one location; undefined removes it. */
function replaceAt (value: unknown, [step, ...rest]: Step[], by: unknown): unknown {
  if (step === undefined || !isBranch(value)) return by
  const copy: Record<Step, unknown> = Array.isArray(value) ? Object.assign([], value) as never : { ...value }
  copy[step] = replaceAt(value[step], rest, by)
  return copy
}

/** Generates valid values of which one part is junk, missing, or additional. */
export function mutated (schema: Schema): Arbitrary<unknown> {
  return fc.tuple(valid(schema), fc.nat(), mostly(5, junk, fc.constant(undefined)), fc.boolean())
    .map(([value, pick, by, isAdded]) => {
      if (isAdded && isBranch(value) && !Array.isArray(value)) return { ...value, [`extra_${pick}`]: by, user_id: 1, role: 'admin' }
      const places = listPlaces(value)
      return replaceAt(value, places[pick % places.length] ?? [], by)
    })
}

/** Replaces every placeholder in `value` by an id. */
export function resolve (value: unknown, look: (known: Known) => unknown): unknown {
  if (value instanceof Known) return look(value)
  if (!isBranch(value)) return value
  if (Array.isArray(value)) return value.map((one) => resolve(one, look))
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, resolve(one, look)]))
}
