import { defineProvider } from '@svc/plugin-sdk'

export default defineProvider({
  key: 'hangs-in-setup',
  name: 'hangs-in-setup',
  id: 'integer',

  async setup () {
    // Hangs without end like a loop, but uses no processor time.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  },

  async identify () {
    return undefined
  }
})
