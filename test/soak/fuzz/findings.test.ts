import t from 'tap'
import { ANSWER_MAX_MS, findFault, findRawFault } from './findings.ts'
import { Ids } from './known.ts'
import type { FuzzRequest } from './requests.ts'
import { type Answer, GIVE_UP_MS } from './transport.ts'
import { Known } from './values.ts'

const FINE: Answer = { status: 200, headers: { 'content-type': 'application/json' }, text: '{}', ms: 1 }
const REQUEST: FuzzRequest = {
  operationId: 'getThing', method: 'GET', template: '/api/things/{id}', url: '/api/things/1', headers: {}, body: null
}
interface By extends Partial<FuzzRequest> { isAdmin?: boolean }

const faultOf = (answer: Partial<Answer>, { isAdmin = false, ...request }: By = {}) =>
  findFault({ ...FINE, ...answer }, { request: { ...REQUEST, ...request }, isAdmin }, ['a-secret'], ['/srv/library'])

t.test('a response is faulty by its status, time, body or leaked data', async (t) => {
  const problem = '{"detail":"No such thing"}'
  for (const [what, answer, fault] of [
    ['a 500', { status: 500, text: problem }, /^500/],
    ['a 503 without a time', { status: 503, text: problem }, /^503/],
    ['no answer', { ms: GIVE_UP_MS }, /^no answer/],
    ['a closed connection', { status: 0 }, /closed/],
    ['a slow one', { ms: ANSWER_MAX_MS + 1 }, /ms$/],
    ['an error of another form', { status: 404, text: '{"error":"x"}' }, /without detail/],
    ['an error that is a page', { status: 404, headers: { 'content-type': 'text/html' }, text: problem }, /text\/html/],
    ['a secret', { text: '"a-secret"' }, /a-secret/],
    ['a stack', { status: 400, text: '{"detail":"x\n    at run (file.ts:1:1)"}' }, /inside/],
    ['a folder', { text: '"/srv/library/roms"' }, /srv/]
  ] as const) t.match(faultOf(answer), fault, what)
})

t.test('a correct refusal is no fault', async (t) => {
  t.equal(faultOf({}), null)
  t.equal(faultOf({ status: 404, text: '{"detail":"No such thing"}' }), null)
  t.equal(faultOf({ status: 503, headers: { ...FINE.headers, 'retry-after': '2' }, text: '{"detail":"x"}' }), null)
  t.equal(faultOf({ text: '"/srv/library/roms"' }, { isAdmin: true }), null)
  t.equal(faultOf({ status: 422, text: '{"detail":"a-secret"}' }, { body: Buffer.from('a-secret') }), null, 'it was sent')
  t.equal(faultOf({ status: 500, text: '{"detail":"No SteamGridDB enabled"}' }), null)
  t.equal(faultOf({ status: 404, text: '' }, { method: 'HEAD' }), null)
})

t.test('each of several responses over one connection is checked', async (t) => {
  const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'
  t.equal(findRawFault({ text: ok + ok, ms: 1 }), null)
  t.match(findRawFault({ text: `${ok}HTTP/1.1 500 Internal Server Error\r\n\r\n`, ms: 1 }), /^HTTP\/1.1 500/)
  t.match(findRawFault({ text: ok, ms: GIVE_UP_MS }), /stays open/)
})

t.test('an id in a response is looked up by its kind', async (t) => {
  const ids = new Ids()
  ids.add('/api/client-tokens', '[{"id":7,"device_id":"d-1"}]')
  ids.add('/api/saves/{id}/versions', '[{"id":9}]')
  t.same(['token', 'device', 'version', 'rom'].map((kind) => ids.look(new Known(kind, 3))), [7, 'd-1', 9, 3])
})
