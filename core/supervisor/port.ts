import { type AddressInfo, createServer } from 'node:net'
import type { Config } from '../config/config.ts'
import { StartError } from '../errors.ts'
import { errorCode } from '../files/fs-error.ts'

/** Returns a StartError for an address on which nothing can listen; any other error unchanged. */
export function explainListenError (err: unknown, host: string, port: number): unknown {
  const code = errorCode(err)
  if (code === 'EADDRINUSE') {
    return new StartError(`Port ${port} on ${host} is in use by another program. Stop that program, or set SVC_PORT to ` +
      'a free port.', { cause: err })
  }
  if (code === 'EACCES') {
    return new StartError(`This user may not listen on ${host}:${port}. Set SVC_PORT to a port from 1024 up.`, { cause: err })
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAFNOSUPPORT') {
    return new StartError(`SVC_HOST: "${host}" is not an address of this machine. Set it to an address that is, or remove it to use ` +
      '"0.0.0.0".', { cause: err })
  }
  return err
}

/**
 * Checks the port early, before a database is created in vain.
 *
 * @returns the port, or a free one in place of 0, because web workers that start later must use the same port
 * @throws StartError if no program can listen there.
 */
export async function checkPort ({ host, port }: Config['server']): Promise<number> {
  const probe = createServer()
  try {
    await new Promise<void>((resolve, reject) => {
      probe.once('error', reject)
      probe.listen({ host, port }, resolve)
    })
  } catch (err) {
    throw explainListenError(err, host, port)
  }
  const { port: found } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return found
}
