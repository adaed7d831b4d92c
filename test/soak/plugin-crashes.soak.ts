import t from 'tap'
import { makeTrouble } from '../loader/troublemaker.ts'

t.test('100 crashes and 100 hangs of one plugin fail no request and no other plugin', async (t) => {
  const { calls, requests, slowestMs } = await makeTrouble(t, 100, 100)
  t.comment(`${calls} calls of the other plugin and ${requests} requests, of which the slowest took ${slowestMs.toFixed(0)} ms`)
})
