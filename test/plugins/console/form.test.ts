import { Type } from '@sinclair/typebox'
import t from 'tap'
import { describeStatus, readFailure } from '../../../plugins/console/web/api/failure.ts'
import { errors } from '../../../plugins/console/web/i18n/en/errors.ts'
import { labelOf, readNode } from '../../../plugins/console/web/ui/form/node.ts'
import { createValue, findProblems, isWithin, problemAt, toPayload } from '../../../plugins/console/web/ui/form/values.ts'
import { SettingsSchema as WebhookSchema } from '../../../channels/webhook/src/settings.ts'

const TEXTS = {
  required: 'required',
  notNumber: 'not a number',
  notJson: 'not JSON',
  tooSmall: (minimum: number) => `at least ${minimum}`,
  tooLarge: (maximum: number) => `at most ${maximum}`,
  tooShort: (length: number) => `at least ${length} characters`
}

const SCHEMA = Type.Object({
  address: Type.String({ format: 'uri', title: 'Address', minLength: 8 }),
  apiKey: Type.String({ writeOnly: true }),
  port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, default: 443 })),
  level: Type.Union([Type.Literal('info'), Type.Literal('warning')]),
  regions: Type.Optional(Type.Array(Type.Union([Type.Literal('eu'), Type.Literal('us')]))),
  tags: Type.Optional(Type.Array(Type.String(), { maxItems: 3 })),
  headers: Type.Optional(Type.Record(Type.String(), Type.String())),
  hosts: Type.Optional(Type.Array(Type.Object({ name: Type.String(), weight: Type.Number() }))),
  nested: Type.Object({
    isOn: Type.Boolean({ default: true }), note: Type.Optional(Type.Union([Type.String(), Type.Null()]))
  }),
  other: Type.Optional(Type.Tuple([Type.String(), Type.Number()]))
})
/** As it comes over the wire. */
const node = readNode(JSON.parse(JSON.stringify(SCHEMA)))

t.test('a schema becomes the kinds of fields that a form has', async (t) => {
  const kinds = node.kind === 'object' ? Object.fromEntries(node.fields.map(({ name, node: { kind } }) => [name, kind])) : {}
  t.same(kinds, {
    address: 'text', apiKey: 'text', port: 'number', level: 'choice', regions: 'choices', tags: 'texts', headers: 'map', hosts: 'list',
    nested: 'object', other: 'json'
  })
  t.match(readNode({ type: 'string', writeOnly: true }), { kind: 'text', isSecret: true })
  t.match(readNode({ type: 'string', maxLength: 2_000 }), { kind: 'text', isLong: true })
  t.match(readNode({ type: ['integer', 'null'] }), { kind: 'number', isInteger: true })
  t.match(readNode({ anyOf: [{ type: 'string' }, { type: 'null' }], description: 'a note' }), { kind: 'text', description: 'a note' })
  t.match(readNode({ enum: ['a', 'b'] }), { kind: 'choice', options: ['a', 'b'] })
  for (const odd of [null, 7, 'text', [], {}, { type: 'object' }, { anyOf: [{ type: 'string' }, { type: 'number' }] }]) {
    t.equal(readNode(odd).kind, 'json')
  }
  t.equal(readNode(JSON.parse(JSON.stringify(WebhookSchema))).kind, 'object')
})

t.test('labels are titles, or names in words', async (t) => {
  t.equal(labelOf('address', readNode({ type: 'string', title: 'Address' })), 'Address')
  t.equal(labelOf('clientId', readNode({ type: 'string' })), 'Client id')
  t.equal(labelOf('signature_header', readNode({ type: 'string' })), 'Signature header')
})

t.test('an empty form has the defaults of its schema', async (t) => {
  t.match(createValue(node), { address: '', port: 443, regions: [], headers: {}, nested: { isOn: true, note: '' } })
})

t.test('the payload has typed values, and no empty fields', async (t) => {
  const typed = {
    address: 'https://a.example', apiKey: '', port: '80', level: 'info', regions: ['eu'], tags: [], headers: { 'x-a': '1', 'x-b': '' },
    hosts: [{ name: 'one', weight: '1,5' }], nested: { isOn: false, note: '' }, other: '["a", 1]'
  }
  t.same(toPayload(node, typed), {
    address: 'https://a.example', port: 80, level: 'info', regions: ['eu'], tags: [], headers: { 'x-a': '1', 'x-b': '' },
    hosts: [{ name: 'one', weight: 1.5 }], nested: { isOn: false }, other: ['a', 1]
  })
})

t.test('wrong values are found before the server sees them', async (t) => {
  const wrong = { address: 'short', apiKey: '', port: '70000', level: '', hosts: [{ name: 'a', weight: 'x' }], nested: {}, other: '{' }
  t.same(findProblems(node, wrong, TEXTS).map(({ path, message }) => `${path.join('.')}: ${message}`), [
    'address: at least 8 characters', 'apiKey: required', 'port: at most 65535', 'level: required', 'hosts.0.weight: not a number',
    'other: not JSON'
  ])
  const right = { address: 'https://a.example', apiKey: '', level: 'info', nested: { isOn: true } }
  t.same(findProblems(node, right, TEXTS, ['apiKey']), [], 'a stored secret may stay empty')
})

t.test('errors of the server show at their fields', async (t) => {
  const problems = [{ path: ['body', 'hosts', 0, 'name'], message: 'unknown host' }, { path: ['body'], message: 'all of it' }]
  t.equal(problemAt(problems, ['hosts', 0, 'name']), 'unknown host')
  t.equal(problemAt(problems, ['hosts', 0]), undefined)
  t.same(problems.map((problem) => isWithin(node, problem)), [true, false])
})

t.test('a refusal always has a message', async (t) => {
  const body = { detail: [{ loc: ['body', 'name'], msg: 'too long' }, { loc: ['body', 'url'], msg: 'no address' }] }
  t.match(readFailure(422, body, 'It failed'), { message: 'too long. no address', fields: [{ path: ['body', 'name'] }, { path: ['body', 'url'] }] })
  t.match(readFailure(409, { detail: 'Taken' }, 'It failed'), { message: 'Taken', fields: [] })
  t.match(readFailure(409, { detail: { message: 'Taken', device_id: 7 } }, 'It failed'), { message: 'Taken', fields: [] })
  for (const other of [undefined, '<html>', {}, { detail: [] }]) t.equal(readFailure(500, other, 'It failed').message, 'It failed')
})

t.test('an error of a proxy names its cause', async (t) => {
  t.match(describeStatus(413, errors), /proxy.*client_max_body_size/)
  for (const status of [502, 503, 504]) t.equal(describeStatus(status, errors), 'The server does not answer')
  t.match(describeStatus(400, errors), /status 400/)
})
