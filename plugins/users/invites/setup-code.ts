import type { FastifyInstance, FastifyRequest } from 'fastify'
import { forbidden } from '../../../core/errors.ts'
import { isLoopback, networkOf } from '../../../core/config/networks.ts'
import { isEqualSecret } from '../../../core/access/secrets.ts'
import { createThrottle } from '../../auth/throttle-rows.ts'

/** Headers that proxies add to forwarded requests. */
const FORWARDING = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip']
const LOCAL_NAMES = new Set(['localhost', '127.0.0.1', '[::1]'])
const CODE_LENGTH = 12

/**
 * True for a request from this machine under a local name. A proxy on this machine, or a foreign page whose name
 * resolves here, uses another name.
 */
const isLocal = ({ socket, headers, hostname }: FastifyRequest) =>
  isLoopback(socket.remoteAddress ?? '') && LOCAL_NAMES.has(hostname) && FORWARDING.every((name) => headers[name] === undefined)

const limitFor = (address: string) => ({
  key: `setup-code:${networkOf(address)}`, freeAttempts: 10, forgetSeconds: 3_600, waitSeconds: 30, waitMaxSeconds: 900
})

const refused = () => forbidden('The first setup needs a request from the machine of the server, or the setup code that the server printed when it ' +
  'started; send the code as setup_code')

/**
 * The code that proves the right to set up a server without an administrator. The server prints it at its start. It
 * derives from the server's key, so all processes know it.
 */
export function createSetupCode (app: FastifyInstance) {
  const throttle = createThrottle(app.db)
  const code = app.secrets.sign('setup-code', 'first administrator').replaceAll(/[-_]/g, '').slice(0, CODE_LENGTH)

  return {
    /** Returns the code while it is valid; null once there is an administrator. */
    findSetupCode: async (): Promise<string | null> => await app.users.hasAdmin() ? null : code,

    /** @throws ApiError FORBIDDEN for a request over the network without the code, TOO_MANY_REQUESTS */
    async checkSetup (request: FastifyRequest, given: string | undefined): Promise<void> {
      if (isLocal(request) || await app.users.hasAdmin()) return
      // A request without a code does not count as a guess.
      if (given === undefined) throw refused()
      const limit = limitFor(request.ip)
      await throttle.countAttempt([limit])
      if (!isEqualSecret(given.trim(), code)) throw refused()
      await throttle.clear([limit.key])
    }
  }
}
export type SetupCode = ReturnType<typeof createSetupCode>
