"""Puts objects into a store of S3, signed by Signature Version 4."""
import datetime
import hashlib
import hmac
import urllib.parse
import urllib.request


def put(address, path, content=b"", keys=("AKIDEXAMPLE", "secretEXAMPLE"), region="us-east-1"):
    """Makes the bucket or the object /BUCKET[/KEY]. `keys`: the access key and its secret."""
    access_key, secret = keys
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    quoted = urllib.parse.quote(path, safe="/-_.~")
    digest = hashlib.sha256(content).hexdigest()
    headers = {"host": urllib.parse.urlsplit(address).netloc, "x-amz-content-sha256": digest, "x-amz-date": now}
    names = ";".join(sorted(headers))
    canonical = "\n".join(["PUT", quoted, "", *(f"{name}:{headers[name]}" for name in sorted(headers)), "", names, digest])
    scope = f"{now[:8]}/{region}/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + secret).encode()
    for part in (now[:8], region, "s3", "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    headers["authorization"] = f"AWS4-HMAC-SHA256 Credential={access_key}/{scope}, SignedHeaders={names}, Signature={signature}"
    del headers["host"]  # urllib sends it
    headers["content-type"] = "application/octet-stream"  # urllib would call it a form
    request = urllib.request.Request(address + quoted, data=content, method="PUT", headers=headers)
    urllib.request.urlopen(request, timeout=20).close()
