// Between a client and `envisa debug --dap`: writes each message, as it passes, into the file named by ENVISA_DAP_LOG.
import { spawn } from 'node:child_process';
import fs from 'node:fs';

const log = fs.openSync(process.env.ENVISA_DAP_LOG, 'a');
const adapter = spawn(process.env.ENVISA || 'envisa', ['debug', '--dap'], { stdio: ['pipe', 'pipe', 'inherit'] });
const pass = (from, to, who) => {
  let held = Buffer.alloc(0);
  from.on('data', (bytes) => {
    to.write(bytes);
    held = Buffer.concat([held, bytes]);
    for (;;) {
      const head = held.indexOf('\r\n\r\n');
      const length = head < 0 ? null : /Content-Length: (\d+)/i.exec(held.subarray(0, head).toString());
      if (!length || held.length < head + 4 + Number(length[1])) return;
      const end = head + 4 + Number(length[1]);
      fs.writeSync(log, JSON.stringify({ who, message: JSON.parse(held.subarray(head + 4, end).toString()) }) + '\n');
      held = held.subarray(end);
    }
  });
  from.on('end', () => to.end());
};
pass(process.stdin, adapter.stdin, 'client');
pass(adapter.stdout, process.stdout, 'adapter');
adapter.on('exit', (code) => process.exit(code ?? 1));
