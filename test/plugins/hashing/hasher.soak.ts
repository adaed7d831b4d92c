import t from 'tap'
import { makeZip, MEMBERS } from './fixtures.ts'
import { plain, setUp, usual } from './hasher-support.ts'

t.teardown(() => usual.close())

t.test('thousands of concurrent small files each get their own result', async (t) => {
  const contents = Array.from({ length: 2000 }, (_, index) => Buffer.from(`file ${index}`))
  const { hasher, path } = setUp(t, Object.fromEntries(contents.map((bytes, index) => [`f${index}`, bytes])))
  const answers = await Promise.all(contents.map((_, index) => hasher.hashFile(path(`f${index}`))))
  t.strictSame(answers, contents.map(plain))
})

t.test('a hanging library is ended at its deadline and the archive counts as raw bytes', async (t) => {
  const zip = await makeZip([{ name: `${'a'.repeat(40)}b`, bytes: Buffer.from('x') }, ...MEMBERS])
  const { hasher, path } = setUp(t, { 'a.zip': zip, small: 'abc' }, {
    threads: 1,
    excluded: { names: [/^(a+)+$/] },
    limits: { timeoutMs: 500 }
  })
  const [hung, small] = await Promise.all([hasher.hashFile(path('a.zip')), hasher.hashFile(path('small'))])
  t.match(hung, { ...plain(zip), warning: /time limit/ })
  t.strictSame(small, plain(Buffer.from('abc')))
})
