import fc from 'fast-check'
import t from 'tap'
import { createSecrets, isEqualSecret } from '../../../core/access/secrets.ts'
import { character } from '../../any-string.ts'

const secrets = createSecrets('the key of this server')
const others = createSecrets('the key of another server')

t.test('a sealed text opens only with the same key and purpose', async () => {
  fc.assert(fc.property(fc.string({ unit: character }), fc.string(), (text, purpose) => {
    const sealed = secrets.seal(purpose, text)
    return secrets.open(purpose, sealed) === text && secrets.open(`${purpose}!`, sealed) === null &&
      others.open(purpose, sealed) === null
  }), { numRuns: 50 })
})

t.test('a changed sealed text cannot be opened', async (t) => {
  const sealed = Buffer.from(secrets.seal('channels', 'a webhook address'), 'base64url')
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed)
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
    t.equal(secrets.open('channels', changed.toString('base64url')), null, `byte ${at}`)
  }
  t.equal(secrets.open('channels', sealed.subarray(0, -1).toString('base64url')), null)
})

t.test('garbage is not opened and causes no error', async () => {
  fc.assert(fc.property(fc.string(), (garbage) => secrets.open('channels', garbage) === null))
})

t.test('sealing one text twice gives different bytes', async (t) => {
  t.not(secrets.seal('a', 'text'), secrets.seal('a', 'text'))
})

t.test('a signature belongs to its text, its purpose and its server', async (t) => {
  const mark = secrets.sign('csrf', 'text')
  t.equal(secrets.sign('csrf', 'text'), mark)
  t.equal(createSecrets('the key of this server').sign('csrf', 'text'), mark, 'also after a restart')
  t.not(secrets.sign('csrf', 'texts'), mark)
  t.not(secrets.sign('other', 'text'), mark)
  t.not(others.sign('csrf', 'text'), mark)
})

t.test('isEqualSecret compares texts, whatever their lengths', async () => {
  fc.assert(fc.property(fc.string(), fc.string(), (a, b) => isEqualSecret(a, b) === (a === b) && isEqualSecret(a, a)))
})
