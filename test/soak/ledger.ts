/** A request that ended without an answer may still change the server for this long, because it has a time limit. */
const LATE_MS = 15_000
/** The number of findings that are described; the others are only counted. */
const FINDINGS_MAX = 10

/** A value of which nobody knows whether the server stored it. */
interface Doubt { value: string, endedAt: number }
interface Entry { acknowledged: string | null, doubts: Doubt[] }

/** A response; null if the connection ended without a whole one. */
type Answer = Pick<Response, 'status' | 'headers'> | null

/**
 * A model of what a server acknowledged while it or its database was killed. One client at a time writes a key, each
 * time with another value. A correct server then has the acknowledged value, or one that it never answered for.
 */
export class Ledger {
  readonly #entries = new Map<string, Entry>()
  readonly #findings: string[] = []
  #findingCount = 0
  /** Numbers of answers by their status; `cut` counts requests without an answer. */
  readonly answers: Record<string, number> = {}

  get keys (): string[] {
    return [...this.#entries.keys()]
  }

  /** All differences from the model, and all answers that a client must not get. */
  get findings (): string[] {
    const others = this.#findingCount - this.#findings.length
    return others === 0 ? this.#findings : [...this.#findings, `${others} more`]
  }

  #report (finding: string): void {
    this.#findingCount++
    if (this.#findings.length < FINDINGS_MAX) this.#findings.push(finding)
  }

  /**
   * Counts an answer to a valid request. A server that fails must say when to try again.
   *
   * @returns true if the server answered; 404 is an answer, which `check` compares with the model
   */
  count (what: string, answer: Answer, body: string): boolean {
    const name = answer === null ? 'cut' : String(answer.status)
    this.answers[name] = (this.answers[name] ?? 0) + 1
    if (answer === null) return false
    const { status, headers } = answer
    if (status === 404) return true
    if (status >= 400 && (status !== 503 || !headers.has('retry-after'))) {
      this.#report(`${what}: status ${status}${headers.has('retry-after') ? '' : ' without Retry-After'}: ${body.slice(0, 200)}`)
    }
    return status < 400
  }

  /** Runs one write of a key. @param send resolves to true if the server acknowledged the value */
  async write (key: string, value: string, send: () => Promise<boolean>): Promise<boolean> {
    const entry = this.#entries.get(key) ?? { acknowledged: null, doubts: [] }
    this.#entries.set(key, entry)
    const startedAt = performance.now()
    const doubt: Doubt = { value, endedAt: Infinity }
    entry.doubts.push(doubt)
    const isAcknowledged = await send()
    doubt.endedAt = performance.now()
    if (!isAcknowledged) return false
    entry.acknowledged = value
    entry.doubts = entry.doubts.filter((one) => one !== doubt && one.endedAt > startedAt - LATE_MS)
    return true
  }

  /** Compares a key with the model. @param value the server's value; null if it has none */
  check (key: string, value: string | null): void {
    const { acknowledged, doubts } = this.#entries.get(key) ?? { acknowledged: null, doubts: [] }
    if (value === acknowledged || doubts.some((doubt) => doubt.value === value)) return
    this.#report(`${key} is ${value}, acknowledged was ${acknowledged}, unanswered were [${doubts.map((doubt) => doubt.value).join()}]`)
  }
}
