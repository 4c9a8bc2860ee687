"""The S3 of the tests, in its image and on loopback: moto, that answers `Expect: 100-continue` once.

Python's handler says `100 Continue`, and Werkzeug's says it again; Amazon's asynchronous client takes the second one
for the answer, and Spark's state would never get its files there.
"""

import sys

from moto import server
from werkzeug import serving

serving.WSGIRequestHandler.handle_expect_100 = lambda _: True
server.main(sys.argv[1:])
