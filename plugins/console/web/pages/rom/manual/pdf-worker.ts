import worker from 'pdfjs-dist/build/pdf.worker.min.mjs?file'

interface Policy { createScriptURL: (address: string) => string }
/** The part of Trusted Types that the worker needs. Browsers without them accept plain addresses. */
interface TrustedTypes { createPolicy: (name: string, rules: Policy) => Policy }
declare global {
  interface Window { readonly trustedTypes?: TrustedTypes }
}

/** The name of the only policy that the page allows. */
const POLICY = 'svc-pdf-worker'
const ADDRESS = new URL(worker, import.meta.url).href

/** Allows the address of the worker and no other. */
const policy = window.trustedTypes?.createPolicy(POLICY, {
  createScriptURL (address) {
    if (address !== ADDRESS) throw new TypeError(`The address ${address} is not that of the worker for manuals`)
    return address
  }
})

/** Starts the worker that reads manuals. */
export const startWorker = (): Worker => new Worker(policy?.createScriptURL(ADDRESS) ?? ADDRESS, { type: 'module' })
