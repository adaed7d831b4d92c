import { type AddressInfo, createServer } from 'node:net'
import type { Config } from '../config/config.ts'
import { StartError } from '../errors.ts'

/** What to say when nothing can listen there; the error itself when it is about something else. */
export function explainListenError (err: unknown, host: string, port: number): unknown {
  const { code } = err as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') {
    return new StartError(`Port ${port} on ${host} is in use by another program. Stop that program, or set SVC_PORT to ` +
      'a free port.', { cause: err })
  }
  if (code === 'EACCES') {
    return new StartError(`This user may not listen on ${host}:${port}. Set SVC_PORT to a port from 1024 up.`, { cause: err })
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAFNOSUPPORT') {
    return new StartError(`SVC_HOST: "${host}" is no address of this machine. Set it to one that is, or remove it to use ` +
      '"0.0.0.0".', { cause: err })
  }
  return err
}

/**
 * Fails early, before a database is made for nothing.
 *
 * @returns the port, or a free one in place of 0: web workers that start later must find the same
 * @throws StartError when nobody can listen there.
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
