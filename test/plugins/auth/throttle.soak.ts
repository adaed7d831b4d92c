import { hash as hashBcrypt } from 'bcryptjs'
import t from 'tap'
import { verifyPassword } from '../../../plugins/auth/password-hash.ts'

t.test('a check takes as long for an unknown account while imported hashes remain', async (t) => {
  const stored = [await hashBcrypt('a password', 9), null]
  const shortest = [Infinity, Infinity]
  // In turns, so that other programs delay both.
  for (let round = 0; round < 6; round++) {
    for (const [index, one] of stored.entries()) {
      const startedAt = performance.now()
      await verifyPassword(one, 'wrong', [9])
      shortest[index] = Math.min(shortest[index] ?? Infinity, performance.now() - startedAt)
    }
  }
  const [known = 0, unknown = 0] = shortest
  t.ok(known / unknown > 1 / 3 && known / unknown < 3, `${known} ms and ${unknown} ms`)
})
