import t from 'tap'
import { makeTrouble } from '../loader/troublemaker.ts'

t.test('after 100 crashes in calls, 100 from timers and 100 hangs of one plugin, another has answered every call', async (t) => {
  await makeTrouble(t, 100)
})
