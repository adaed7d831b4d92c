import { defineProvider } from '@svc/plugin-sdk'

export default defineProvider({
  key: 'hangs-in-setup',
  name: 'hangs-in-setup',
  id: 'integer',

  async setup () {
    // Without end, as a loop is, but at no cost to whatever else the machine does.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  },

  async identify () {
    return undefined
  }
})
