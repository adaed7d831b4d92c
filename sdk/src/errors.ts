/** The service refuses the plugin's account or key; the host asks once more in each scan, until a key is accepted. */
export class CredentialsRefusedError extends Error {
  override readonly name = 'CredentialsRefusedError'
}

/** The service asks for fewer requests. `retryAfterMs` is the wait in milliseconds, if the service states one. */
export class RateLimitedError extends Error {
  override readonly name = 'RateLimitedError'
  readonly retryAfterMs: number | undefined

  constructor (message: string, retryAfterMs?: number, options?: ErrorOptions) {
    super(message, options)
    this.retryAfterMs = retryAfterMs
  }
}

/** The service is down, unreachable, or sends an unusable response. A later request may succeed. */
export class ServiceDownError extends Error {
  override readonly name = 'ServiceDownError'
}

/** The service answered with a status that the request does not accept. */
export class HttpStatusError extends Error {
  override readonly name = 'HttpStatusError'
  readonly status: number
  /** The first 2,000 characters of the response body. */
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

/**
 * The destination refused a delivery and nothing arrived. The host retries the delivery like after any other failure.
 */
export class DeliveryRefusedError extends Error {
  override readonly name = 'DeliveryRefusedError'
}
