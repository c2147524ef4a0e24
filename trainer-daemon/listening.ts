/** Listening on an address, and why that failed in words a person can act on. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The address or port cannot be listened on; the message says what to do. */
export class ListenError extends Error {
  constructor(message: string, cause: Error) {
    super(message, { cause });
    this.name = 'ListenError';
  }
}

/**
 * Makes a server listen.
 * @param what the server in words, for example `the recording proxy`.
 * @param port 0 takes any free one.
 * @returns the port listened on.
 * @throws ListenError
 */
export async function listen(server: Server, what: string, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException) =>
      reject(new ListenError(`${what} cannot listen on ${inUrl(host)}:${port}: ${reasonOf(error, host, port)}`, error));
    server.once('error', failed);
    server.listen(port, host, () => {
      server.off('error', failed);
      resolve();
    });
  });
  return (server.address() as AddressInfo).port;
}

/** An address as it stands in a URL. */
export function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function reasonOf(error: NodeJS.ErrnoException, host: string, port: number): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return `another program uses port ${port}; give another port, or 0 for any free one (--port 0)`;
    case 'EACCES':
      return port > 0 && port < 1024
        ? `ports below 1024 are kept for privileged programs; give another port, or 0 for any free one (--port 0)`
        : `this user may not use port ${port} (${error.message}); give another port, or 0 for any free one (--port 0)`;
    case 'EADDRNOTAVAIL':
      return `${host} is no address of this machine; listen on 127.0.0.1, or on an address this machine has`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the name ${host} leads to no address; give an address of this machine, such as 127.0.0.1`;
    default:
      return error.message;
  }
}
