import { signal } from '@preact/signals'
import { type Failure, isCancelled, toFailure } from '../../api/failure.ts'
import type { Range } from './geometry.ts'

/** One page of a long list. */
export interface Page<Item> { items: readonly Item[] }

/** Loads the page that begins at an offset. */
export type LoadPage<Item> = (offset: number, limit: number, signal: AbortSignal) => Promise<Page<Item>>

/** Pages in memory. The oldest ones go, so an hour of scrolling takes no more memory. */
const PAGES_MAX = 30

/** Loads the pages of a long list that people look at, and cancels those that they scrolled past. */
export function createPages<Item> (load: LoadPage<Item>, size: number) {
  /** In the order of their last use. */
  const pages = new Map<number, readonly Item[]>()
  const running = new Map<number, AbortController>()
  /** Changes with every page that arrives. */
  const version = signal(0)
  /** The failure of a page that people look at, which is not there; null if there is none. */
  const failure = signal<Failure | null>(null)
  const failures = new Map<number, Failure>()
  let isEnded = false

  /** Records how the request of a page ended. */
  function report (number: number, problem: Failure | null): void {
    if (problem === null) failures.delete(number)
    else failures.set(number, problem)
    failure.value = failures.values().next().value ?? null
  }

  async function request (number: number): Promise<void> {
    const controller = new AbortController()
    running.set(number, controller)
    try {
      const { items } = await load(number * size, size, controller.signal)
      if (running.get(number) !== controller || isEnded) return
      pages.delete(number)
      pages.set(number, items)
      for (const oldest of [...pages.keys()].slice(0, Math.max(0, pages.size - PAGES_MAX))) pages.delete(oldest)
      report(number, null)
    } catch (err) {
      if (running.get(number) !== controller || isCancelled(err)) return
      report(number, toFailure(err))
    }
    running.delete(number)
    version.value++
  }

  return {
    version,
    failure,
    /** Returns an item; undefined while its page loads. */
    find: (index: number): Item | undefined => pages.get(Math.floor(index / size))?.[index % size],

    /** Loads the missing pages of a range, and cancels requests for others. */
    loadRange ({ first, end }: Range): void {
      const wanted = new Set<number>()
      for (let number = Math.floor(first / size); number * size < end; number++) wanted.add(number)
      for (const [number, controller] of running) {
        if (wanted.has(number)) continue
        running.delete(number)
        controller.abort()
      }
      for (const number of failures.keys()) if (!wanted.has(number)) report(number, null)
      for (const number of wanted) {
        const page = pages.get(number)
        if (page === undefined && !running.has(number)) void request(number)
        if (page === undefined) continue
        pages.delete(number)
        pages.set(number, page)
      }
    },

    /** Loads the pages of a range again, while the former ones stay visible. Drops all others. */
    renew ({ first, end }: Range): void {
      const [from, to] = [Math.floor(first / size), Math.ceil(end / size)]
      for (const number of pages.keys()) if (number < from || number >= to) pages.delete(number)
      for (let number = from; number < to; number++) {
        running.get(number)?.abort()
        void request(number)
      }
    },

    /** Cancels everything. */
    end (): void {
      isEnded = true
      for (const controller of running.values()) controller.abort()
      running.clear()
    }
  }
}
export type Pages<Item> = ReturnType<typeof createPages<Item>>
