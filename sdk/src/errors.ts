/** The account or key a plugin was given is not accepted; the plugin is paused until it is reconfigured. */
export class CredentialsRefusedError extends Error {
  override readonly name = 'CredentialsRefusedError'
}

/** The service asks to slow down. `retryAfterMs` is how long to wait, in milliseconds, when the service said. */
export class RateLimitedError extends Error {
  override readonly name = 'RateLimitedError'
  readonly retryAfterMs: number | undefined

  constructor (message: string, retryAfterMs?: number, options?: ErrorOptions) {
    super(message, options)
    this.retryAfterMs = retryAfterMs
  }
}

/** The service is down, unreachable, or answers nonsense. Asking again later may work. */
export class ServiceDownError extends Error {
  override readonly name = 'ServiceDownError'
}

/** The service answered with a status the caller did not ask for. */
export class HttpStatusError extends Error {
  override readonly name = 'HttpStatusError'
  readonly status: number
  /** The first 2,000 characters of the answer's body. */
  readonly body: string

  constructor (status: number, message: string, body: string) {
    super(message)
    this.status = status
    this.body = body
  }
}

/** The settings of a channel cannot be used; `message` says which field and why. Retrying does not help. */
export class InvalidSettingsError extends Error {
  override readonly name = 'InvalidSettingsError'
}

/** The destination refused a delivery: nothing arrived. A channel tries it again like any other failure. */
export class DeliveryRefusedError extends Error {
  override readonly name = 'DeliveryRefusedError'
}
