import { Writable } from 'node:stream'
import { ServiceDownError } from '@svc/plugin-sdk'
import t, { type Test } from 'tap'
import { createLogger, createRequestLogger, maskUrl, passLine, readLines } from '../../../core/log/log.ts'
import { type LostLines, createLogOutput } from '../../../core/log/log-output.ts'
import { asRequest } from '../../../core/log/request-id.ts'
import { loadConfig } from '../../load-config.ts'

function build (t: Pick<Test, 'testdir'>, level = 'info') {
  const lines: string[] = []
  const stream = new Writable({ write (chunk: Buffer, _encoding, done) { lines.push(chunk.toString()); done() } })
  const { config } = loadConfig({
    SVC_DATA_DIR: t.testdir({}), SVC_AUTH_SECRET_KEY: 'a key for tests only', SVC_LOG_LEVEL: level
  })
  return { log: createLogger(config, 'web 1', stream), lines }
}

t.test('a secret in a logged object is not printed', async (t) => {
  const { log, lines } = build(t)
  log.info({
    password: 'hunter2', user: { token: 'hunter2' }, request: { headers: { authorization: 'hunter2', cookie: 'hunter2' } }
  }, 'said')
  t.equal(lines.length, 1)
  t.notMatch(lines[0], 'hunter2')
  t.match(JSON.parse(lines[0] ?? ''), { msg: 'said', name: 'web 1', password: '********' })
})

t.test('a secret in the address of a request is not printed', async (t) => {
  t.equal(maskUrl('/api/x?token=abc&limit=5&access_token=def&code=1'),
    '/api/x?token=********&limit=5&access_token=********&code=********')
  t.equal(maskUrl('/api/x?tokens=abc'), '/api/x?tokens=abc')
  const { log, lines } = build(t)
  log.info({ req: { id: '1', method: 'GET', url: '/feed?key=hunter2', ip: '::1', headers: { a: 'b' } } }, 'request')
  t.match(JSON.parse(lines[0] ?? '').req, { id: '1', method: 'GET', url: '/feed?key=********', ip: '::1' })
  t.notMatch(lines[0], 'headers')
})

t.test('a log line names its request, whichever code writes it', async (t) => {
  const { log, lines } = build(t)
  log.info('for none')
  const own = createRequestLogger(log, 'a-1')
  own.info({ password: 'hunter2' }, 'by its own logger')
  own.child({ plugin: 'x' }).info('by one made of that')
  await asRequest('a-2', async () => {
    log.info('by any other')
    own.info('by its own, in the name of another')
  })
  const written = lines.map((line) => JSON.parse(line) as { msg: string, reqId?: string })
  t.same(written.map(({ reqId }) => reqId), [undefined, 'a-1', 'a-1', 'a-2', 'a-1'])
  t.match(written[1], { password: '********', name: 'web 1' })
  t.notOk(lines.some((line) => line.split('reqId').length > 2), 'no line has two')
})

t.test('lines below the configured level are not printed', async (t) => {
  const { log, lines } = build(t, 'warn')
  log.info('not this')
  log.warn('but this')
  t.equal(lines.length, 1)
})

t.test('an error is printed with its stack and its cause', async (t) => {
  const { log, lines } = build(t)
  log.error({ err: new Error('outer', { cause: new Error('inner') }) }, 'failed')
  t.match(JSON.parse(lines[0] ?? '').err, { type: 'Error', message: /outer.*inner/, stack: /caused by/ })
})

t.test('the failure of a service elsewhere is logged without a stack unless debugging', async (t) => {
  const err = new ServiceDownError('api.example.org cannot be reached', { cause: new Error('ENOTFOUND') })
  for (const [level, hasStack] of [['info', false], ['debug', true]] as const) {
    const { log, lines } = build(t, level)
    log.warn({ err }, 'provider failed')
    const logged = JSON.parse(lines[0] ?? '').err
    t.match(logged, { type: 'ServiceDownError', message: /^api\.example\.org cannot be reached/ }, level)
    t.equal('stack' in logged, hasStack, level)
  }
})

t.test('row values in database errors are not printed', async (t) => {
  const { log, lines } = build(t)
  const err = Object.assign(new Error('null value in column "x" - Failing row contains (1, alice, hunter2)'), {
    detail: 'Failing row contains (1, alice, hunter2).', previous: { detail: 'Key (token)=(hunter2) already exists.' }
  })
  log.error({ err }, 'failed')
  t.notMatch(lines[0], 'hunter2')
  t.notMatch(lines[0], 'Failing row contains')
  t.match(JSON.parse(lines[0] ?? '').err, { type: 'Error', message: /null value in column "x"/ })
})

t.test('a reader of a logger gets each masked line until it stops', async (t) => {
  const { log, lines } = build(t)
  const read: string[] = []
  const stop = readLines(log.child({ plugin: 'demo' }), (line) => { read.push(line) })
  log.info({ token: 'hunter2' }, 'first')
  log.child({ rom: 1 }).warn('second')
  log.debug('not printed')
  passLine(log, 'from elsewhere')
  stop()
  log.info('third')
  t.same(read, [...lines.slice(0, 2), 'from elsewhere'])
  t.notMatch(read.join(''), 'hunter2')
})

t.test('lines are lost while the disk of the log is full, and counted later', async (t) => {
  let free = 10
  let text = ''
  const lost: LostLines[] = []
  const output = createLogOutput((lines) => { lost.push(lines) }, (bytes, offset) => {
    if (free === 0) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    const part = bytes.subarray(offset, offset + free)
    free -= part.length
    text += part.toString()
    return part.length
  })
  for (const line of ['first\n', 'second\n', 'third\n']) output.write(line)
  t.equal(text, 'first\nseco')
  t.same(lost, [])
  free = 100
  output.write('fourth\n')
  output.write('fifth\n')
  t.equal(text, 'first\nseco\nfourth\nfifth\n')
  t.match(lost, [{ count: 2, err: { code: 'ENOSPC' } }])
})

t.test('a line waits for the reader of a full pipe', async (t) => {
  let text = ''
  let refusals = 1
  const output = createLogOutput(() => { t.fail('no line is lost') }, (bytes) => {
    if (refusals-- > 0) throw Object.assign(new Error('try again'), { code: 'EAGAIN' })
    text += bytes.toString()
    return bytes.length
  })
  output.write('only\n')
  t.equal(text, 'only\n')
})
